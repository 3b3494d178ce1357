"""Read a run directory whole: plan, journal, evidence and every repeat's raw files. The only reader of raw runs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rerig.errors import UserError
from rerig_agent.journal import read_journal
from rerig_agent.plan_format import PLAN_FORMAT_NUMBER

RUN_FILES = ("plan.json", "journal.jsonl", "targets.json", "conditions-before.json", "conditions-after.json")
REPEAT_FILES = {"record": "record.json", "stdout": "stdout", "stderr": "stderr", "fio": "fio.json"}
LARGEST_RAW_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class RawFile:
    """A kept raw file: its name relative to the run directory, its bytes' SHA-256 and its text."""

    name: str
    sha256: str
    text: str


@dataclass(frozen=True)
class RawRepeat:
    """One repeat as the agent left it: the record and the raw files by role (record, stdout, stderr, fio)."""

    number: int
    record: dict[str, Any]
    files: dict[str, RawFile]


@dataclass(frozen=True)
class RawRun:
    """Everything that a result is built from; ``repeats`` by case id, in order of their number."""

    plan: dict[str, Any]
    events: list[dict[str, Any]]
    targets: dict[str, Any]
    conditions_before: dict[str, Any] | None
    conditions_after: dict[str, Any] | None
    repeats: dict[str, list[RawRepeat]] = field(default_factory=dict)
    files: list[RawFile] = field(default_factory=list)


def read_run(run_dir: Path) -> RawRun:
    """The raw run in ``run_dir``. Raises UserError where it is no run directory or its plan is broken."""
    if not (run_dir / "plan.json").is_file():
        raise UserError(f"{run_dir.name} is not a run directory: it has no plan.json.")
    files = [_raw_file(run_dir, run_dir / name) for name in RUN_FILES if (run_dir / name).is_file()]
    texts = {file.name: file.text for file in files}
    plan = _json(texts["plan.json"], "plan.json")
    if not isinstance(plan, dict) or plan.get("format") != "rerig-plan":
        raise UserError(f"{run_dir.name} is not a run directory: its plan.json is no plan.")
    if plan.get("format_number") != PLAN_FORMAT_NUMBER:
        raise UserError(
            f"{run_dir.name} was made by another rerig: rebuild it with the version that its plan.json names."
        )
    try:
        repeats = {case["id"]: _read_repeats(run_dir, case) for case in plan["cases"]}
    except (KeyError, TypeError, ValueError) as error:
        raise UserError("plan.json in the run directory is damaged: its cases are incomplete.") from error
    return RawRun(
        plan=plan,
        events=read_journal(run_dir),
        targets=_object(texts.get("targets.json", "{}"), "targets.json") or {},
        conditions_before=_object(texts.get("conditions-before.json", "null"), "conditions-before.json"),
        conditions_after=_object(texts.get("conditions-after.json", "null"), "conditions-after.json"),
        repeats=repeats,
        files=files,
    )


def changed_files(run_dir: Path, result: dict[str, Any]) -> list[str]:
    """Names of raw files that are not what they were when ``result`` was built, missing ones too."""
    raw = [*result["raw"]["files"]]
    raw += [file for case in result["cases"] for repeat in case["repeats"] for file in repeat["raw"].values()]
    return [file["name"] for file in raw if _sha256(run_dir / file["name"]) != file["sha256"]]


def _sha256(path: Path) -> str | None:
    try:
        readable = path.is_file() and path.stat().st_size <= LARGEST_RAW_BYTES
        return hashlib.sha256(path.read_bytes()).hexdigest() if readable else None
    except OSError:
        return None


def _read_repeats(run_dir: Path, case: dict[str, Any]) -> list[RawRepeat]:
    repeats = []
    for planned in case["repeats"]:
        directory = run_dir / "cases" / case["id"] / f"r{planned['number']}"
        if not (directory / "record.json").is_file():
            continue  # skipped, not reached, or cut off before the tool ended
        files = {
            role: _raw_file(run_dir, directory / name)
            for role, name in REPEAT_FILES.items()
            if (directory / name).is_file()
        }
        record = _object(files["record"].text, files["record"].name) or {}
        repeats.append(RawRepeat(planned["number"], record, files))
    return repeats


def _raw_file(run_dir: Path, path: Path) -> RawFile:
    if path.stat().st_size > LARGEST_RAW_BYTES:
        raise UserError(f"{path.name} in the run directory is larger than any tool's output: is it the right file?")
    data = path.read_bytes()
    name = path.relative_to(run_dir).as_posix()
    return RawFile(name, hashlib.sha256(data).hexdigest(), data.decode("utf-8", "surrogateescape"))


def _object(text: str, name: str) -> Any:
    """A JSON object, or None for null."""
    value = _json(text, name)
    if value is not None and not isinstance(value, dict):
        raise UserError(f"{name} in the run directory is damaged: it is no JSON object.")
    return value


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{name} in the run directory is damaged: it is not JSON.") from error

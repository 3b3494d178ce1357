"""Read a run directory whole: plan, sessions, evidence and every repeat's raw files. The only reader of raw runs."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rerig.errors import UserError
from rerig.sessions import RawSession, session_numbers, split_journal
from rerig_agent.journal import read_journal
from rerig_agent.plan_format import PLAN_FORMAT_NUMBER

RUN_FILES = ("plan.json", "journal.jsonl")
SESSION_FILES = ("targets", "conditions-before", "conditions-after")
REPEAT_FILES = {
    "record": "record.json",
    "stdout": "stdout",
    "stderr": "stderr",
    "fio": "fio.json",
    "samples": "samples.jsonl",
    "tegrastats": "tegrastats",
    "load": "load.jsonl",
}
LARGEST_RAW_BYTES = 64 * 1024 * 1024
MOST_SESSIONS = 1000  # as many as a result holds
MOST_UNFINISHED_FILES = 5000
_UNFINISHED = re.compile(r"unfinished/[1-9][0-9]{0,3}/[a-z0-9][a-z0-9._-]{0,79}/r[1-9][0-9]{0,2}/[a-z.]+", re.ASCII)


@dataclass(frozen=True)
class RawFile:
    """A kept raw file: its name relative to the run directory, its bytes' SHA-256 and its text."""

    name: str
    sha256: str
    text: str


@dataclass(frozen=True)
class RawRepeat:
    """One repeat as the agent left it: the record and the raw files by role (REPEAT_FILES)."""

    number: int
    record: dict[str, Any]
    files: dict[str, RawFile]


@dataclass(frozen=True)
class RawRun:
    """Everything that a result is built from: one session at the least; ``repeats`` by case id, by their number.

    ``files`` are the run's own, and what was measured of cases that a session left unfinished (hashed, not read: such
    a case is measured anew as a whole, and no figure is taken from it).
    """

    plan: dict[str, Any]
    sessions: list[RawSession]
    repeats: dict[str, list[RawRepeat]] = field(default_factory=dict)
    files: list[RawFile] = field(default_factory=list)


def read_run(run_dir: Path) -> RawRun:
    """The raw run in ``run_dir``. Raises UserError where it is no run directory or its plan is broken."""
    _check_plan_is_there(run_dir)
    numbered = _numbered_sessions(run_dir)
    names = [*RUN_FILES, *(_session_file(name, number) for number, _events in numbered for name in SESSION_FILES)]
    files = [_raw_file(run_dir, run_dir / name) for name in names if (run_dir / name).is_file()]
    texts = {file.name: file.text for file in files}
    plan = _plan(run_dir, texts["plan.json"])
    try:
        repeats = {case["id"]: _read_repeats(run_dir, case) for case in plan["cases"]}
    except (KeyError, TypeError, ValueError) as error:
        raise UserError("plan.json in the run directory is damaged: its cases are incomplete.") from error
    sessions = [_read_session(number, events, texts) for number, events in numbered]
    return RawRun(plan=plan, sessions=sessions, repeats=repeats, files=[*files, *_unfinished_files(run_dir)])


def read_plan(run_dir: Path) -> dict[str, Any]:
    """The plan of the run in ``run_dir``. Raises UserError as ``read_run`` does."""
    _check_plan_is_there(run_dir)
    return _plan(run_dir, _raw_file(run_dir, run_dir / "plan.json").text)


def changed_files(run_dir: Path, result: dict[str, Any]) -> list[str]:
    """Names of raw files that are not what they were when ``result`` was built, missing ones too."""
    raw = [*result["raw"]["files"]]
    raw += [file for case in result["cases"] for repeat in case["repeats"] for file in repeat["raw"].values()]
    return [file["name"] for file in raw if _sha256(run_dir / file["name"]) != file["sha256"]]


def _check_plan_is_there(run_dir: Path) -> None:
    if not (run_dir / "plan.json").is_file():
        raise UserError(f"{run_dir.name} is not a run directory: it has no plan.json.")


def _plan(run_dir: Path, text: str) -> dict[str, Any]:
    plan = _json(text, "plan.json")
    if not isinstance(plan, dict) or plan.get("format") != "rerig-plan":
        raise UserError(f"{run_dir.name} is not a run directory: its plan.json is no plan.")
    if plan.get("format_number") != PLAN_FORMAT_NUMBER:
        raise UserError(
            f"{run_dir.name} was made by another rerig: rebuild it with the version that its plan.json names."
        )
    return plan


def _numbered_sessions(run_dir: Path) -> list[tuple[int, list[dict[str, Any]]]]:
    sessions = split_journal(read_journal(run_dir))
    numbers = session_numbers(sessions)
    if numbers != list(range(1, len(numbers) + 1)):
        # Which evidence belongs to which figure would be a guess.
        raise UserError("journal.jsonl in the run directory is damaged: its sessions are not numbered one by one.")
    if len(numbers) > MOST_SESSIONS:
        raise UserError(f"The run was started {len(numbers)} times, and at most {MOST_SESSIONS} make one result.")
    return list(zip(numbers, sessions, strict=True))


def _session_file(name: str, number: int) -> str:
    return f"{name}.json" if number == 1 else f"{name}-{number}.json"


def _read_session(number: int, events: list[dict[str, Any]], texts: dict[str, str]) -> RawSession:
    targets, before, after = (
        _object(texts.get(file, "null"), file) for file in (_session_file(name, number) for name in SESSION_FILES)
    )
    return RawSession(number, events, targets or {}, before, after)


def _unfinished_files(run_dir: Path) -> list[RawFile]:
    """What sessions that were cut off had measured of cases that a later one measured anew; foreign files left out."""
    files = []
    for name in sorted(path.relative_to(run_dir).as_posix() for path in run_dir.glob("unfinished/*/*/r*/*")):
        if _UNFINISHED.fullmatch(name) and name.rpartition("/")[2] in REPEAT_FILES.values():
            sha256 = _sha256(run_dir / name)
            files += [] if sha256 is None else [RawFile(name, sha256, "")]
    return files[:MOST_UNFINISHED_FILES]


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

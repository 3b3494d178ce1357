"""The only writer of documents on the controller, and the finder of results that a user names."""

from __future__ import annotations

import glob
import json
import os
import shlex
from pathlib import Path
from typing import Any

from rerig.documents import shown
from rerig.errors import UserError

OUT = Path("runs")  # where runs are kept unless --out says otherwise


def run_word(run_dir: Path) -> str:
    """What the user types to name a run: its id, or its path where it is not in the usual place."""
    return shlex.quote(run_dir.name if run_dir.parent == OUT else str(run_dir))


def new_run_directory(out: Path, run_id: str) -> Path:
    """Make ``out/run_id`` (empty). Raises UserError where this user can't write there."""
    run_dir = out / run_id
    try:
        run_dir.mkdir(parents=True)
    except OSError as error:
        raise UserError(f"The run directory can't be made in {out}: {error.strerror}; choose --out DIR.") from error
    return run_dir


def write_document(path: Path, document: dict[str, Any]) -> None:
    """Write JSON whole or not at all, with sorted-as-built keys and real Hangul; a full disk is a UserError."""
    temporary = path.with_name(path.name + ".new")
    try:
        data = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        # A plan holds file names as they are; what is no UTF-8 travels escaped.
        data = json.dumps(document, indent=2, allow_nan=False).encode("ascii")
    try:
        with temporary.open("wb") as file:
            file.write(data + b"\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UserError(f"{path.name} can't be written: {error.strerror}.") from error


def find_results(names: list[str]) -> list[Path]:
    """The result files that files, directories (searched for ``*.json``) and globs name, each once, in order.

    A directory that holds run directories gives their ``result.json``; raw files of a run are never taken for results.
    What can't be looked into is given as it is: reading it says why. Raises UserError for a name that gives nothing.
    """
    found: dict[Path, None] = {}
    for name in names:
        path = Path(name)
        matches = [path] if _may_exist(path) else _glob(name)
        files = [file for match in matches for file in (_in_directory(match) if match.is_dir() else [match])]
        if not files:
            raise UserError(f"{shown(name)}: no such file, and no result in it.")
        found.update(dict.fromkeys(files))
    return list(found)


def _may_exist(path: Path) -> bool:
    try:
        path.lstat()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _glob(pattern: str) -> list[Path]:
    # The user's pattern may be absolute, which Path.glob refuses.
    return [Path(match) for match in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207 - see above


def _in_directory(directory: Path) -> list[Path]:
    results: list[Path] = []

    def closed(error: OSError) -> None:
        results.append(Path(error.filename))

    for parent, directories, files in os.walk(directory, onerror=closed):
        directories.sort()
        is_run = "plan.json" in files and ("journal.jsonl" in files or "result.json" in files)
        if is_run:
            directories.clear()
        results += [
            Path(parent) / name
            for name in sorted(files)
            if (name == "result.json" if is_run else name.endswith(".json"))
        ]
    return results

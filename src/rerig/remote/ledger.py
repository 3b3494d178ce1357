"""Where the runs on other machines are: one small file a run beside the run directories, never inside one.

It names machines and users, so nobody else may read it and nothing of it comes into a result.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from rerig.errors import UserError
from rerig.hosts import Host

FOLDER = ".remote"
MOST_TRIES = 100
RUN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,79}")


@dataclass(frozen=True)
class Entry:
    """How to reach a run again: the machine as the user named it, and the run's directory there."""

    name: str
    destination: str
    run_dir: str
    user: str | None = None
    port: int | None = None
    key_file: str | None = None
    python: str = "python3"
    sudo: bool = False

    def host(self) -> Host:
        """The machine to connect to."""
        return Host(
            self.name,
            self.destination,
            user=self.user,
            port=self.port,
            key_file=self.key_file,
            python=self.python,
            sudo=self.sudo,
        )


def entry_of(host: Host, run_dir: str) -> Entry:
    """The entry of a run in ``run_dir`` on ``host``."""
    return Entry(host.name, host.destination, run_dir, host.user, host.port, host.key_file, host.python, sudo=host.sudo)


def check_run_id(run_id: str) -> str:
    """``run_id``, which becomes a file's name. Raises UserError where it is none."""
    if RUN_ID.fullmatch(run_id) is None:
        raise UserError(f"{run_id!r} is no run: it must look like 20260131T081500Z-1a2b3c (see ./inv runs.list).", 2)
    return run_id


def write_entry(out: Path, run_id: str, entry: Entry) -> None:
    """Note, on the disk before this returns, where a run is. Raises UserError where ``out`` can't be written."""
    folder, name = out / FOLDER, f"{check_run_id(run_id)}.json"
    temporary = None
    try:
        handle, temporary = _new_file(folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(entry), file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(folder / name)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise UserError(f"Nothing can be written in {out}: {error.strerror}; choose --out DIR.") from error


def _new_file(folder: Path) -> tuple[int, str]:
    """A file of mode 0600; whoever forgets the last entry removes the folder, at any moment."""
    for _ in range(MOST_TRIES):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(FileNotFoundError):
            return tempfile.mkstemp(prefix=".new-", dir=folder)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))


def read_entry(out: Path, run_id: str) -> Entry | None:
    """Where a run is; None where nothing (or nothing sound) is noted."""
    try:
        document = json.loads((out / FOLDER / f"{check_run_id(run_id)}.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return _entry(document)


def remove_entry(out: Path, run_id: str) -> None:
    """Forget a run that is on no other machine any more."""
    with contextlib.suppress(FileNotFoundError):
        (out / FOLDER / f"{check_run_id(run_id)}.json").unlink()
    with contextlib.suppress(OSError):
        (out / FOLDER).rmdir()  # the last one


def read_entries(out: Path) -> Iterator[tuple[str, Entry]]:
    """Every run that is noted, by its id."""
    for path in sorted((out / FOLDER).glob("*.json")):
        entry = read_entry(out, path.stem) if RUN_ID.fullmatch(path.stem) else None
        if entry is not None:
            yield path.stem, entry


def _entry(document: Any) -> Entry | None:
    if not isinstance(document, dict):
        return None
    known = {field.name: document[field.name] for field in fields(Entry) if field.name in document}
    sound = all(isinstance(known.get(name), str) for name in ("name", "destination", "run_dir"))
    sound = sound and all(isinstance(known.get(name), str | None) for name in ("user", "key_file"))
    sound = sound and isinstance(known.get("port"), int | None) and isinstance(known.get("sudo", False), bool)
    return Entry(**known) if sound and isinstance(known.get("python", ""), str) else None

"""A run directory as an archive that says nothing of its owner: what agents and controllers need, and nothing else."""

from __future__ import annotations

import io
import os
import re
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import BinaryIO, Iterator

from .exits import Refused
from .files import open_plain, read_plain
from .journal import JOURNAL_NAME, LOCK_NAME
from .progress import PROGRESS_NAME
from .status import look

# What an agent names its files; the controller takes no other names.
_NAME = re.compile(r"[0-9A-Za-z_][0-9A-Za-z._ -]{0,127}", re.ASCII)
_GROWING = (JOURNAL_NAME, PROGRESS_NAME)


def pack(run_dir: Path, to: Path | None) -> int:
    """Write the run in ``run_dir`` as an uncompressed tar to a file, whole or not at all, or to standard output.

    The run may go on: the journal in the archive then ends with some whole line, and every file that it tells of is
    there. Raises NoRun, OSError.
    """
    look(run_dir)
    if to is not None:
        _write_file(run_dir, to)
        return 0
    if sys.stdout.isatty():
        raise Refused("An archive is nothing for a terminal: send it elsewhere, or give --to FILE.")
    sys.stdout.flush()
    _write(run_dir, sys.stdout.buffer)
    sys.stdout.buffer.flush()
    return 0


def _write_file(run_dir: Path, to: Path) -> None:
    handle, aside = tempfile.mkstemp(prefix=f".{to.name}.", dir=str(to.parent))  # 0600
    try:
        with os.fdopen(handle, "wb") as file:
            _write(run_dir, file)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).replace(to)
    except BaseException:
        Path(aside).unlink()
        raise


def _write(run_dir: Path, target: BinaryIO) -> None:
    growing = {name: _whole_lines(run_dir / name) for name in _GROWING}  # before what they tell of
    with tarfile.open(fileobj=target, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for path in _members(run_dir):
            name = path.relative_to(run_dir).as_posix()
            if path.is_dir():
                _add(archive, name, path.lstat(), None)
            elif name in growing:
                _add(archive, name, path.lstat(), growing[name])
            else:
                _add_file(archive, name, path)


def _members(folder: Path) -> Iterator[Path]:
    """Plain files and directories below a directory, sorted by their paths' parts."""
    with os.scandir(str(folder)) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if _NAME.fullmatch(entry.name) is None or entry.name == LOCK_NAME or entry.name.endswith(".new"):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield Path(entry.path)
            yield from _members(Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def _add_file(archive: tarfile.TarFile, name: str, path: Path) -> None:
    try:
        file = open_plain(path)
    except FileNotFoundError:
        return  # a run that goes on has moved it
    with file:
        member = _member(name, os.fstat(file.fileno()))
        archive.addfile(member, file)


def _add(archive: tarfile.TarFile, name: str, status: os.stat_result, data: bytes | None) -> None:
    member = _member(name, status)
    if data is None:
        member.type, member.mode, member.size = tarfile.DIRTYPE, 0o755, 0
        archive.addfile(member)
    else:
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))


def _member(name: str, status: os.stat_result) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)  # of user and group 0, without their names
    member.mode, member.size, member.mtime = 0o644, status.st_size, int(status.st_mtime)
    return member


def _whole_lines(path: Path) -> bytes:
    try:
        data = read_plain(path)
    except FileNotFoundError:
        return b""
    return data[: data.rfind(b"\n") + 1]

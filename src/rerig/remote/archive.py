"""Run directories from other machines, which are not trusted: unpacked by the strictest rules, whole or not at all."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from rerig.errors import UserError
from rerig.remote.homecoming import one_at_a_time, put_in_place
from rerig.text import bounded, printable

MOST_MEMBERS = 200_000
MOST_BYTES = 4 * 2**30
LARGEST_PLAN_BYTES = 16 * 2**20
DEEPEST = 8
# What agents name their files. No leading dot, no backslash, nothing that a terminal or another system would obey.
PART = re.compile(r"[0-9A-Za-z_][0-9A-Za-z._ -]{0,127}", re.ASCII)
COPY_BYTES = 2**20
END_BYTES = 2 * tarfile.BLOCKSIZE


def read_plan(file: BinaryIO) -> dict[str, Any]:
    """The plan in a packed run directory, with its ``run_id``. Raises UserError where there is none."""
    with _opened(file) as archive:
        for member in _members(archive):
            if member.name == "plan.json" and member.isreg() and member.size <= LARGEST_PLAN_BYTES:
                plan = _json(_read(archive, member))
                if isinstance(plan, dict) and isinstance(plan.get("run_id"), str):
                    return plan
                break
    raise UserError("The archive holds no run directory: there is no plan.json in it.")


def unpack(file: BinaryIO, destination: Path) -> None:
    """Unpack a packed run directory as ``destination``, whose name must be the run's id.

    It is unpacked aside and renamed; an earlier copy is replaced only by a whole one that differs. Raises UserError
    for an archive that is damaged or holds anything but plain files and directories, and where the disk is full.
    """
    run_id = read_plan(file)["run_id"]
    if run_id != destination.name:
        raise UserError(f"The archive holds the run {bounded(printable(run_id), 80)!r}, not {destination.name}.")
    part = destination.with_name(f".{destination.name}.part")
    try:
        with one_at_a_time(destination.parent):
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            try:
                _extract(file, part)
                put_in_place(part, destination)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    except tarfile.TarError as error:
        raise UserError("The archive is damaged or cut short: it is not unpacked.") from error
    except OSError as error:
        raise UserError(f"The run can't be kept in {destination.parent}: {error.strerror}.") from error


def _extract(file: BinaryIO, part: Path) -> None:
    total = 0
    with _opened(file) as archive:
        for member in _members(archive):
            path = part.joinpath(*_checked(member))
            if member.isdir():
                path.mkdir(parents=True, exist_ok=True)
                continue
            total += member.size
            if total > MOST_BYTES:
                raise UserError("The archive is larger than any run: it is not unpacked.")
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with path.open("xb") as target:  # a name that stands twice, or that a file system folds into another
                    shutil.copyfileobj(_content(archive, member), target, COPY_BYTES)
            except FileExistsError as error:
                raise UserError("The archive holds a name twice: it is not unpacked.") from error
            if path.stat().st_size != member.size:
                raise UserError("The archive is cut short: it is not unpacked.")
        _check_end(file, archive.offset)


def _check_end(file: BinaryIO, offset: int) -> None:
    """tarfile takes a header that it can't read for the end; the real one is two blocks of zeros."""
    file.seek(offset)
    if file.read(END_BYTES) != bytes(END_BYTES):
        raise UserError("The archive is damaged or cut short: it is not unpacked.")


def _checked(member: tarfile.TarInfo) -> list[str]:
    """The parts of a member's name. Links, devices, absolute names and ``..`` are refused."""
    if not (member.isreg() or member.isdir()) or member.issparse():
        raise UserError(f"The archive holds {bounded(printable(member.name), 80)!r}, which is no plain file.")
    parts = [part for part in member.name.removeprefix("./").rstrip("/").split("/") if member.name not in (".", "./")]
    if len(parts) > DEEPEST or not all(PART.fullmatch(part) for part in parts):
        raise UserError(f"The archive holds the odd name {bounded(printable(member.name), 80)!r}: it is not unpacked.")
    return parts


def _opened(file: BinaryIO) -> tarfile.TarFile:
    file.seek(0)
    try:
        return tarfile.open(fileobj=file, mode="r:")
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise UserError("The archive is no tar file, or is damaged.") from error


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    count = 0
    while True:
        try:
            member = archive.next()
        except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as error:
            raise UserError("The archive is damaged.") from error
        if member is None:
            return
        archive.members = []  # type: ignore[attr-defined] # it would keep every member that was ever read
        count += 1
        if count > MOST_MEMBERS:
            raise UserError("The archive holds more files than any run: it is not unpacked.")
        yield member


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Any:
    content = archive.extractfile(member)
    if content is None:
        raise UserError("The archive is damaged.")
    return content


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    try:
        data: bytes = _content(archive, member).read()
    except tarfile.TarError as error:
        raise UserError("The archive is damaged or cut short.") from error
    return data


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None

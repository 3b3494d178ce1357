"""Machines that have a name and outlive the command that started them, each in a folder of its own in the cache."""

from __future__ import annotations

import contextlib
import fcntl
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from twin.cache import cache_folder
from twin.errors import TwinError
from twin.machine import Machine, find_machine

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}", re.ASCII)


def machine_folder(name: str) -> Path:
    """Where the machine of that name keeps its disks and ssh files. Raises TwinError for a name that can't be one."""
    if not NAME.fullmatch(name):
        raise TwinError(f"A twin's name is made of a-z, 0-9 and hyphens, and {name!r} isn't.")
    return _machines() / name


@contextlib.contextmanager
def started(name: str, start: Callable[[Path], Machine], *, keep: bool) -> Iterator[Machine]:
    """The machine that ``start`` starts in a fresh folder. It ends with the block, unless all went well and ``keep``.

    Raises TwinError where one of that name runs.
    """
    folder = machine_folder(name)
    ours = whole = False
    try:
        with _locked():
            if find_machine(folder):
                raise TwinError(
                    f"The twin {name} runs already (./inv twin.stop --name {name} ends it); give another --name."
                )
            ours = True
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            machine = start(folder)
        yield machine
        whole = True
    finally:
        if ours and not (keep and whole):
            stop_named(name)


def running_machine(name: str) -> Machine:
    """Raises TwinError where none of that name runs."""
    machine = find_machine(machine_folder(name))
    if machine is None:
        others = (
            f"; there is {', '.join(running_names())}"
            if running_names()
            else ": ./inv twin.boot or twin.restore starts one"
        )
        raise TwinError(f"No twin named {name} runs{others}.")
    return machine


def running_names() -> list[str]:
    """Of every machine that runs."""
    return sorted(folder.name for folder in _machines().glob("*") if find_machine(folder))


def stop_named(name: str) -> bool:
    """End the machine and remove its folder; whether one ran."""
    folder = machine_folder(name)
    with _locked():
        machine = find_machine(folder)
        if machine:
            machine.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return machine is not None


def _machines() -> Path:
    return cache_folder() / "machines"


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    """One process at a time starts or removes; never for long."""
    folder = _machines()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise TwinError(f"The twin's cache can't be written: {error.filename or folder}: {error.strerror}.") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

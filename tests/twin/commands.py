"""What each command of the twin does, from its parsed words to what it prints and its exit status."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from twin import beside, contents, disks
from twin.architecture import ARCHITECTURES, Architecture, architecture_named
from twin.disk_words import DiskWords, parse_disk
from twin.errors import TwinError
from twin.image import built_image
from twin.machine import Machine, boot
from twin.running import running_machine, running_names, started, stop_named
from twin.shell import Shell
from twin.snapshot import booted_snapshot, restore
from twin.tools import need, need_root

BUILDING = ("mmdebstrap", "cpio", "depmod", "mke2fs", "ssh-keygen", "fdtput", "qemu-img", "zstd", "ssh")


def check(_words: Namespace) -> int:
    """Whether everything is here that the twin needs; TwinError names what isn't."""
    need(*(architecture.qemu for architecture in ARCHITECTURES.values()), *BUILDING)
    need_root()
    return 0


def build(words: Namespace) -> int:
    """Prints the image's folder."""
    print(built_image(architecture_named(words.arch)).folder)
    return 0


def snapshot(words: Namespace) -> int:
    """Prints the snapshot's folder."""
    print(booted_snapshot(architecture_named(words.arch)).folder)
    return 0


def boot_named(words: Namespace) -> int:
    """A machine from the image that goes on without us."""

    def prepare(architecture: Architecture) -> Callable[[Path], Machine]:
        image = built_image(architecture)
        return lambda folder: boot(image, folder, words.name, detached=True)

    return _start(words, prepare)


def restore_named(words: Namespace) -> int:
    """A machine from the snapshot that goes on without us."""

    def prepare(architecture: Architecture) -> Callable[[Path], Machine]:
        saved = booted_snapshot(architecture)
        return lambda folder: restore(saved, folder, words.name, detached=True)

    return _start(words, prepare)


def ssh(words: Namespace) -> int:
    """Becomes ssh, so its exit status and its terminal are the command's."""
    machine = running_machine(words.name)
    on_a_terminal = words.words and sys.stdin.isatty() and sys.stdout.isatty()
    argv = machine.shell.command(words.words, words.user, *(["-t"] if on_a_terminal else []))
    sys.stdout.flush()
    os.execvp(argv[0], argv)  # noqa: S606 - ssh's own words, and no shell here


def stop(words: Namespace) -> int:
    """One machine or all; that none runs is no failure."""
    for name in running_names() if words.all else [words.name]:
        print(f"The twin {name} {'is stopped' if stop_named(name) else 'was not running'}.")
    return 0


def run(words: Namespace) -> int:
    """The command here, with a fresh machine beside it that ends with us; the command's exit status."""
    if not words.words:
        raise TwinError("twin.run needs a command of this machine after --, as in ./inv twin.run -- ssh -V.")
    dress = _dressing(words)
    saved = booted_snapshot(architecture_named(words.arch))
    name = f"run-{os.getpid()}"
    with started(name, lambda folder: restore(saved, folder, name), keep=False) as machine:
        _make_ready(machine, dress)
        return beside.run(words.words, beside.environment(machine))


def _start(words: Namespace, prepare: Callable[[Architecture], Callable[[Path], Machine]]) -> int:
    start_s = time.monotonic()
    dress = _dressing(words)
    with started(words.name, prepare(architecture_named(words.arch)), keep=True) as machine:
        _make_ready(machine, dress)
    named = "" if words.name == "twin" else f" --name {words.name}"
    print(
        f"The twin {words.name} ({words.arch}) runs after {time.monotonic() - start_s:.0f} s.\n"
        f"  ./inv twin.ssh{named} -- COMMAND\n"
        f"  ssh -F {machine.shell.config} twin\n"
        f"  ./inv twin.stop{named}"
    )
    return 0


def _make_ready(machine: Machine, dress: Callable[[Machine], None]) -> None:
    machine.wait_ready()
    dress(machine)
    machine.disconnect()


def _dressing(words: Namespace) -> Callable[[Machine], None]:
    """What makes the machine the one that is asked for. Words that make no sense are refused before anything starts."""
    plugged = [parse_disk(word) for word in words.nvme]
    if len(plugged) > len(disks.SLOTS):
        raise TwinError(f"A twin takes {len(disks.SLOTS)} NVMe disks, and {len(plugged)} were asked for.")
    put_on = _personality(words.l4t) if words.l4t else None

    def dress(machine: Machine) -> None:
        for slot, disk in zip(disks.SLOTS, plugged, strict=False):
            _plug(machine, slot, disk)
        if put_on:
            put_on(machine.shell)

    return dress


def _personality(name: str) -> Callable[[Shell], None]:
    from twin.l4t import layer, personalities  # many boards, read only when one of them is asked for

    board = personalities.personality_named(name)
    return lambda shell: layer.apply(shell, board)


def _plug(machine: Machine, slot: int, disk: DiskWords) -> None:
    path = machine.folder / f"nvme{slot}.img"
    contents.write(disk.contents, path, disk.bytes)
    attached = disks.attach(machine, path, serial=f"TWIN{slot}", slot=slot, **disk.limits)
    print(f"{attached.device} is {attached.by_id}", file=sys.stderr)

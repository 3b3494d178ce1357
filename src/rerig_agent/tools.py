"""Which measuring tools the machine has, in which version, and what they can do here."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from typing import Any

from .child import child_environment

UNKNOWN = "unknown"

# A result takes no other words than these (schemas/result-1.0.schema.json, tools): whoever builds a tool can put a name
# into its version. What follows is cut off.
_DD_VERSION = r"([0-9]{1,5}(?:\.\w{1,20}){0,2})"
_FIO_VERSION = r"([0-9]{1,3}(?:\.[0-9]{1,3}){1,2}(?:-rc[0-9]{1,2})?(?:-[0-9]{1,5}-g[0-9a-f]{4,40})?(?:-dirty)?)"

_VERSION_LIMIT_S = 20
_IO_URING_SETUP = 425  # the same number on every architecture (include/uapi/asm-generic/unistd.h)


def probe_tools() -> dict[str, Any]:
    """``{"dd": tool, "fio": tool}``; a tool is ``{"path", "version", "engines"}`` or None where it is missing.

    ``engines`` (fio only) lists what this build offers *and* the kernel allows, of io_uring, libaio and psync. A tool
    that is there and does not say its version is ``unknown``; such a fio does not run, and has no engines.
    """
    dd_line, fio_line = _first_line(["dd", "--version"]), _first_line(["fio", "--version"])
    fio_version = None if fio_line is None else fio_name(fio_line)
    return {
        "dd": None if dd_line is None else {"version": dd_name(dd_line)},
        "fio": None
        if fio_version is None
        else {"version": fio_version, "engines": [] if fio_version == UNKNOWN else fio_engines()},
    }


def dd_name(first_line: str) -> str:
    """``coreutils 9.1``, ``uutils coreutils 0.2.2`` or ``busybox 1.35.0`` from the first line, else ``unknown``."""
    busybox = re.search("BusyBox v" + _DD_VERSION, first_line, re.ASCII)
    if busybox:
        return "busybox " + busybox.group(1)
    suite = re.search(r"dd \((?:GNU )?((?:uutils )?coreutils|fileutils)\) " + _DD_VERSION, first_line, re.ASCII)
    if suite:
        return f"{suite.group(1)} {suite.group(2)}"
    bare = re.fullmatch("dd " + _DD_VERSION, first_line, re.ASCII)
    return bare.group() if bare else UNKNOWN


def fio_name(first_line: str) -> str:
    """``3.33`` from ``fio-3.33``, else ``unknown``: an error of the loader, say, which may name a person's folder."""
    version = re.match(r"fio[- ]" + _FIO_VERSION, first_line.strip())
    return version.group(1) if version else UNKNOWN


def fio_engines() -> list[str]:
    """The engines that fio lists, less io_uring where the kernel or a container's filter forbids it."""
    listed = _output(["fio", "--enghelp"]) or ""
    names = set(listed.split())
    if "io_uring" in names and not io_uring_allowed():
        names.discard("io_uring")
    return [name for name in ("io_uring", "libaio", "psync") if name in names]


def io_uring_allowed() -> bool:
    """True when ``io_uring_setup(2)`` gives a ring to this process (sysctl, seccomp and old kernels refuse it)."""
    libc = ctypes.CDLL(None, use_errno=True)
    parameters = ctypes.create_string_buffer(120)  # struct io_uring_params, zeroed
    descriptor = libc.syscall(_IO_URING_SETUP, 1, parameters)
    if descriptor < 0:
        return False
    os.close(descriptor)
    return True


def _output(argv: list[str]) -> str | None:
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=child_environment(),
            timeout=_VERSION_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace")


def _first_line(argv: list[str]) -> str | None:
    """What the tool says first, "" where it says nothing (in time), None where it is missing."""
    if shutil.which(argv[0]) is None:
        return None
    return next(iter((_output(argv) or "").strip().splitlines()), "")

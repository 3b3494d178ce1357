"""Which measuring tools the machine has, in which version, and what they can do here."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from typing import Any

from .child import child_environment

_VERSION_LIMIT_S = 20
_IO_URING_SETUP = 425  # the same number on every architecture (include/uapi/asm-generic/unistd.h)


def probe_tools() -> dict[str, Any]:
    """``{"dd": tool, "fio": tool}``; a tool is ``{"path", "version", "engines"}`` or None where it is missing.

    ``engines`` (fio only) lists what this build offers *and* the kernel allows, of io_uring, libaio and psync.
    """
    dd_version = _first_line(["dd", "--version"])
    fio_version = _first_line(["fio", "--version"])
    return {
        "dd": None if dd_version is None else {"version": dd_name(dd_version)},
        "fio": None
        if fio_version is None
        else {"version": fio_version.replace("fio-", "", 1), "engines": fio_engines()},
    }


def dd_name(first_line: str) -> str:
    """``coreutils 9.1``, ``uutils coreutils 0.2.2`` or ``busybox 1.35.0`` from the first line, else ``unknown``."""
    busybox = re.search(r"BusyBox v([\w.]+)", first_line)
    if busybox:
        return "busybox " + busybox.group(1)
    suite = re.search(r"dd \((?:GNU )?([\w ]+)\) ([\w.]+)", first_line)
    if suite:
        return f"{suite.group(1)} {suite.group(2)}"
    bare = re.fullmatch(r"dd [\w.]+", first_line)
    return bare.group() if bare else "unknown"


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
    if shutil.which(argv[0]) is None:
        return None
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
    output = _output(argv)
    if output is None or not output.strip():
        return None
    return output.strip().splitlines()[0]

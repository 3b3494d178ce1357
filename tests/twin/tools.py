"""Programs of this machine: run to the end, or explained in one sentence."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from twin.errors import TwinError

HOST_PACKAGES = Path(__file__).with_name("host-packages.txt")
ENDING_S = 10.0


def host_packages() -> list[str]:
    """Debian's packages that the twin needs on this machine."""
    lines = (line.partition("#")[0].strip() for line in HOST_PACKAGES.read_text("utf-8").splitlines())
    return [line for line in lines if line]


def need(*programs: str) -> None:
    """Raises TwinError where one of the programs is missing, with how to get it."""
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        raise TwinError(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; "
            f"on Debian or Ubuntu: sudo apt-get install --no-install-recommends {' '.join(host_packages())}"
        )


def need_root() -> None:
    """Raises TwinError for other users."""
    if os.geteuid() != 0:
        raise TwinError("To build the twin's image takes root: its files belong to many users; use sudo.")


def run(
    words: Sequence[str | os.PathLike[str]],
    *,
    what: str,
    cwd: Path | None = None,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    limit_s: float = 1800,
    stdout: Path | None = None,
) -> str:
    """Its output as text, or "" where that goes to the file ``stdout``.

    Raises TwinError that says ``what`` failed, with the most telling line of what it said.
    """
    argv = [os.fspath(word) for word in words]
    need(argv[0])
    with (
        stdout.open("wb") if stdout else contextlib.nullcontext(subprocess.PIPE) as output,
        subprocess.Popen(
            argv,
            cwd=cwd,
            env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive", **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process,
    ):
        try:
            said, errors = process.communicate(stdin, limit_s)
        except BaseException as error:
            _end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                raise TwinError(f"{what} failed: {argv[0]} has not ended after {limit_s:.0f} s.") from None
            raise
    if process.returncode:
        lines = (errors + (said or b"")).decode("utf-8", "replace").strip().splitlines()
        raise TwinError(f"{what} failed: {argv[0]}: {_telling(lines)}")
    return (said or b"").decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """It and all that it started: what mmdebstrap's children would go on writing could not be removed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + ENDING_S
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        while _group_lives(process.pid):
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        else:
            return


def _group_lives(group: int) -> bool:
    """Whether a process of the group is more than a zombie."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _parent, number = path.read_bytes().rpartition(b")")[2].split()[:3]
            if int(number) == group and state not in (b"Z", b"X"):
                return True
    return False


def _telling(lines: list[str]) -> str:
    """apt's own words first: what mmdebstrap says last is only that something failed."""
    for sign in ("Could not resolve", "Temporary failure", "Unable to connect", "No space left"):
        for line in lines:
            if sign in line:
                return line.strip()
    errors = [line for line in lines if line.startswith(("E:", "error:", "fatal"))]
    return (errors or lines or ["no word"])[-1].strip()

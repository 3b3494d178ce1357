"""What all tests share. It runs on Python 3.8 too, with nothing but pytest and hypothesis."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import settings

from debian_packages import CACHE, give_up, missing, unpack

WRAPPER = """#!/bin/sh
root=${{0%/*}}/..
LD_LIBRARY_PATH={libraries} exec "$root/usr/bin/fio" "$@"
"""

# What a shell starts in the background ignores Ctrl-C, and what nohup starts a hangup; so would programs under test.
for number, action in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, action)

# A busy machine is slow; that is no failure.
settings.register_profile("rerig", deadline=None)
# For the further Pythons of ./inv test.
settings.register_profile("brief", deadline=None, max_examples=15)
settings.load_profile(os.environ.get("RERIG_EXAMPLES", "rerig"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("root") and os.geteuid() != 0:
        pytest.skip("needs root")


@pytest.fixture(scope="session")
def real_fio() -> Path:
    """The folder of a fio that runs: the system's, else one from Debian's package that is unpacked, not installed.

    Put it first on PATH. Where there is none the test is skipped, and fails in CI.
    """
    if system := shutil.which("fio"):
        return Path(system).parent
    with missing("fio") as aside:
        if aside is not None:
            _wrap_fio(unpack(["fio"], aside))
    return CACHE / "fio" / "bin"


def _wrap_fio(ready: Path) -> None:
    libraries = sorted({f'"$root/{path.parent.relative_to(ready)}"' for path in ready.rglob("*.so*")})
    program = ready / "bin" / "fio"
    program.parent.mkdir(exist_ok=True)
    program.write_text(WRAPPER.format(libraries=":".join(libraries)), "utf-8")
    program.chmod(0o755)
    done = subprocess.run([str(program), "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        give_up(f"the unpacked fio does not run: {done.stdout.strip()}")

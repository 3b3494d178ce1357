"""What CI runs, on a machine of stand-ins: which packages it gets, and that what is missing is a failure there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = "# what it takes\nqemu-utils\n\nzstd # to save\n"
INSTALL = "apt-get --quiet --quiet install --yes --no-install-recommends"


class Machine:
    """A clone with .ci/run, and programs that note how they were called."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "log"
        self.bin = folder / "bin"
        self.clone = folder / "a clone"
        self.bin.mkdir()
        for path, text in (("tests/twin/host-packages.txt", PACKAGES), ("inv", '#!/bin/sh\necho "inv $* CI=$CI"\n')):
            (self.clone / path).parent.mkdir(parents=True, exist_ok=True)
            (self.clone / path).write_text(text, "utf-8")
        (self.clone / ".ci").mkdir()
        shutil.copy(ROOT / ".ci" / "run", self.clone / ".ci" / "run")
        (self.clone / "inv").chmod(0o755)
        self.program("id", "echo 0")
        self.program("apt-cache", "")
        self.program("apt-get", f'echo "apt-get $*" >> "{self.log}"; echo chatter')

    def program(self, name: str, body: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{body}\n", "utf-8")
        (self.bin / name).chmod(0o755)

    def has(self, *packages: str) -> None:
        """These are installed."""
        known = "|".join(packages or ["none"])
        self.program(
            "dpkg-query", f'eval "last=\\${{$#}}"; case $last in {known}) printf installed ;; *) exit 1 ;; esac'
        )

    def run(self) -> str:
        environment = {key: value for key, value in os.environ.items() if key != "CI"}
        done = subprocess.run(
            [str(self.clone / ".ci" / "run")],
            env={**environment, "PATH": f"{self.bin}:/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return done.stdout

    def calls(self) -> list[str]:
        return self.log.read_text("utf-8").splitlines() if self.log.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_everything_is_run_and_what_is_missing_fails(machine: Machine) -> None:
    machine.has("qemu-utils", "zstd")
    assert machine.run() == "inv test --all CI=true\n"
    assert machine.calls() == []


def test_packages_that_are_missing_are_installed_and_no_others(machine: Machine) -> None:
    machine.has("qemu-utils")
    machine.run()
    assert machine.calls() == ["apt-get --quiet --quiet update", f"{INSTALL} zstd"]


def test_a_machine_without_package_lists_gets_them(machine: Machine) -> None:
    machine.has("qemu-utils", "zstd")
    machine.program("apt-cache", "exit 100")
    machine.run()
    assert machine.calls() == ["apt-get --quiet --quiet update"]


def test_an_ordinary_user_installs_nothing(machine: Machine) -> None:
    machine.has()
    machine.program("id", "echo 1000")
    assert machine.run() == "inv test --all CI=true\n"
    assert machine.calls() == []

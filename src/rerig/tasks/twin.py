"""``./inv twin.*``: the twin, a whole machine in qemu that the tests measure and provision; see docs/twin.md."""

from __future__ import annotations

import sys

from invoke.context import Context
from invoke.tasks import task

from rerig.program import arguments

ARCH = "amd64 (the faster one) or arm64 (with a device tree, as a board)."
NAME = "What the machine is called; machines with several names run side by side."
NVME = "Plug in an NVMe disk: SIZE[:CONTENTS][@RATE], such as 1G, 4G:ext4 or 1G@100MiB/s@1000iops; up to two of them."
L4T = "The personality of a board that the machine takes on."
MACHINE = {"arch": ARCH, "name": NAME, "nvme": NVME, "l4t": L4T}


@task(help={"arch": ARCH})
def build(_context: Context, arch: str = "amd64") -> None:
    """Build the twin's image; it is kept outside this clone, and built again when its recipe changes."""
    _run("build", "--arch", arch)


@task(iterable=["nvme"], help=MACHINE)
def boot(_context: Context, nvme: list[str], arch: str = "amd64", name: str = "twin", l4t: str = "") -> None:
    """Boot a twin from its image and leave it running."""
    _run("boot", *_machine(arch, name, nvme, l4t))


@task(help={"name": NAME})
def ssh(context: Context, name: str = "twin") -> None:
    """Run the command after -- in a running twin, or a shell; its exit status is this one's."""
    _run("ssh", "--name", name, "--", *arguments(context))


@task(help={"arch": ARCH})
def snapshot(_context: Context, arch: str = "amd64") -> None:
    """Boot a twin once and keep it as it is then, for twin.restore and twin.run."""
    _run("snapshot", "--arch", arch)


@task(iterable=["nvme"], help=MACHINE)
def restore(_context: Context, nvme: list[str], arch: str = "amd64", name: str = "twin", l4t: str = "") -> None:
    """Start a fresh twin from the snapshot, in seconds, and leave it running."""
    _run("restore", *_machine(arch, name, nvme, l4t))


@task(help={"name": NAME, "all": "Every twin that runs."})
def stop(_context: Context, name: str = "twin", all: bool = False) -> None:
    """Stop a running twin and remove what it wrote."""
    _run("stop", *(["--all"] if all else ["--name", name]))


@task(iterable=["nvme"], help={key: MACHINE[key] for key in ("arch", "nvme", "l4t")})
def run(context: Context, nvme: list[str], arch: str = "amd64", l4t: str = "") -> None:
    """Run the command of this machine after -- beside a fresh twin, and stop the twin whatever happens."""
    _run("run", *_machine(arch, "", nvme, l4t), "--", *arguments(context))


def _machine(arch: str, name: str, nvme: list[str], l4t: str) -> list[str]:
    given = {"--name": name, "--l4t": l4t}
    words = [f"{flag}={value}" for flag, value in given.items() if value]
    return ["--arch", arch, *words, *(f"--nvme={disk}" for disk in nvme)]


def _run(*words: str) -> None:
    from rerig.upkeep.twin import run_twin

    status = run_twin(words)
    if status:
        sys.exit(status)

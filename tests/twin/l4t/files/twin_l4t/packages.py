"""Entries of Debian's package database for packages whose files nobody needs: dpkg and apt take them for installed."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

from . import place

DATABASE = "/var/lib/dpkg/status"
INFO = "/var/lib/dpkg/info"
MAINTAINER = "the twin"  # by which our entries are known again
SCRIPTS = {"nvidia-l4t-bootloader": "postinst"}  # packages with a script, which the layer puts there


def add(packages: dict[str, str]) -> None:
    """Each package in its version."""
    architecture = own_architecture()
    entries = "".join(entry(name, version, architecture) for name, version in sorted(packages.items()))
    text = (place.read(DATABASE) or "").rstrip("\n")
    place.replace(DATABASE, f"{text}\n\n{entries}".lstrip("\n").encode())
    for name in packages:
        place.write(f"{INFO}/{name}.list", "/.\n")


def remove() -> None:
    text = place.read(DATABASE) or ""
    kept, gone = [], []
    for one in re.split(r"\n{2,}", text.strip("\n")):
        (gone if f"\nMaintainer: {MAINTAINER}\n" in f"{one}\n" else kept).append(one)
    if not gone:
        return
    place.replace(DATABASE, "".join(f"{one}\n\n" for one in kept if one).encode())
    for one in gone:
        name = one.partition("\n")[0].partition(": ")[2]
        place.path(f"{INFO}/{name}.list").unlink()


def entry(name: str, version: str, architecture: str) -> str:
    fields: dict[str, Any] = {
        "Package": name,
        "Status": "install ok installed",
        "Priority": "optional",
        "Section": "metapackages",
        "Maintainer": MAINTAINER,
        "Architecture": architecture,
        "Version": version,
        "Description": "stand-in for a package of a Jetson",
    }
    return "".join(f"{key}: {value}\n" for key, value in fields.items()) + "\n"


def own_architecture() -> str:
    """dpkg's name for this machine; a board's where the tests' machine has no dpkg."""
    if not place.is_board():
        return "arm64"
    done = subprocess.run(["dpkg", "--print-architecture"], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().strip() or os.uname().machine

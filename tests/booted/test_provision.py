"""A whole provision of a booted machine as a user plays it: plain ssh, pipelined, root by sudo where it is needed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import testinfra

from ansible_plays import Controller
from booted.controller import sequential_dd, write_suite
from rerig.documents import load_valid_document
from twin.machine import Machine

pytestmark = pytest.mark.twin

HOST = "orin.example.net"
PACKAGE, VERSION = "twin-bench-tool", "1.0-1"
COMMAND = "/usr/bin/twin-bench-tool"
STATE = "/home/jetson/.local/state/rerig"
REPOSITORY = "/srv/packages"
# A package that only this machine has, in a repository of its own: the twin reaches no other.
MAKE_REPOSITORY = f"""
mkdir -p {REPOSITORY}/tree/DEBIAN {REPOSITORY}/tree/usr/bin
cd {REPOSITORY}
printf '#!/bin/sh\\necho {VERSION}\\n' > tree{COMMAND}
chmod 755 tree{COMMAND}
cat > tree/DEBIAN/control <<END
Package: {PACKAGE}
Version: {VERSION}
Architecture: all
Maintainer: Nobody <nobody@example.net>
Description: a tool to install
END
dpkg-deb --root-owner-group -Znone --build tree tool.deb >&2
{{
    cat tree/DEBIAN/control
    echo "Filename: ./tool.deb"
    echo "Size: $(stat --format=%s tool.deb)"
    echo "SHA256: $(sha256sum tool.deb | cut -d' ' -f1)"
}} > Packages
echo 'deb [trusted=yes] file:{REPOSITORY} ./' > /etc/apt/sources.list.d/twin.list
"""


def test_site_yml_provisions_a_machine_and_a_second_play_changes_nothing(twin_amd64: Machine, tmp_path: Path) -> None:
    twin_amd64.shell.script(MAKE_REPOSITORY)
    before = packages(twin_amd64)
    user = a_user(tmp_path, twin_amd64)
    write_suite(user.directory, "small", sequential_dd("dd", 8 * 2**20, repeats=3))
    measuring = {"measure_suites": ["small.yml"], "measure_poll_s": 5}

    check = user.play("site.yml", "--check", **measuring)
    assert check.status == 0, check.output
    assert f"Would install: {PACKAGE}" in check.output
    assert "Would measure the suite small.yml" in " ".join(check.output.split())
    assert packages(twin_amd64) == before
    assert twin_amd64.shell.run(["ls", STATE], check=False).returncode != 0

    apply = user.play("site.yml", **measuring)
    assert apply.status == 0, apply.output
    assert apply.recap(HOST)["changed"] > 0
    (path,) = apply.results(HOST)
    document = load_valid_document(path, "rerig-result")
    assert document["run"]["complete"]
    assert [case["status"] for case in document["cases"]] == ["measured"]

    repeat = user.play("site.yml")
    assert repeat.status == 0, repeat.output
    assert repeat.recap(HOST)["changed"] == 0, repeat.output

    host = seen_by_testinfra(twin_amd64)
    assert packages(twin_amd64) - before == {PACKAGE}
    assert before - packages(twin_amd64) == set()
    assert host.package(PACKAGE).version == VERSION
    assert host.check_output(COMMAND) == VERSION
    assert host.file(COMMAND).user == "root"
    assert host.file(f"{STATE}/runs/{path.parent.name}").is_directory
    assert host.file(f"{STATE}/runs").user == "jetson"
    assert host.service("ssh").is_running
    assert host.check_output("systemctl is-system-running") == "running"


def a_user(folder: Path, machine: Machine) -> Controller:
    """Somebody whose inventory has the twin, as ``jetson``, who may become root without a password."""
    variables = {
        "ansible_host": "twin",
        "ansible_user": "jetson",
        "ansible_ssh_common_args": f"-F {machine.shell.config}",
        "ansible_control_path_dir": str(machine.sockets / "ansible"),  # short, as the name of a socket must be
        "bench_tools_packages": [PACKAGE],
    }
    return Controller(folder / "user", os.environ["PATH"], {HOST: variables})


def seen_by_testinfra(machine: Machine) -> Any:
    """The machine, asked by other means than those that changed it."""
    control = machine.sockets / "testinfra"
    return testinfra.get_host("ssh://jetson@twin", ssh_config=str(machine.shell.config), controlpath=str(control))


def packages(machine: Machine) -> set[str]:
    """The names of what dpkg says is installed."""
    words = ["dpkg-query", "--show", "--showformat", "${db:Status-Abbrev}${Package}\n"]
    lines = machine.shell.run(words).stdout.decode().splitlines()
    return {line.split()[1] for line in lines if line.startswith("ii")}

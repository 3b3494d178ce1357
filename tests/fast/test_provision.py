"""A playbook of this clone on a container, by plain ssh as on a board: first told, then done, then nothing to do."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ansible_plays import Controller
from twin.container import Container
from twin.shell import File

if TYPE_CHECKING:
    from testinfra.host import Host

pytestmark = pytest.mark.root
PACKAGE = "twin-tool"
CONTROL = f"""\
Package: {PACKAGE}
Version: 1.5-2
Architecture: all
Maintainer: Nobody <nobody@example.net>
Description: a package that only the test's repository has
"""


@pytest.fixture
def controller(fast_twin: Container, tmp_path: Path) -> Controller:
    """A user whose one host is the container, logged in as jetson, with pipelining as ansible.cfg has it."""
    controller = Controller(tmp_path / "controller", os.environ["PATH"])
    controller.hosts["box"] = {
        "ansible_host": "twin",
        "ansible_user": "jetson",
        "ansible_ssh_common_args": f"-F {fast_twin.shell.config}",
        "ansible_control_path_dir": str(fast_twin.sockets),
    }
    return controller


@pytest.fixture
def with_repository(fast_twin: Container, tmp_path: Path) -> None:
    """The container's apt knows one repository, a folder with one package."""
    tree = tmp_path / "package"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(CONTROL, "ascii")
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin" / PACKAGE).write_text("#!/bin/sh\necho it works\n", "ascii")
    (tree / "usr/bin" / PACKAGE).chmod(0o755)
    file = tmp_path / f"{PACKAGE}.deb"
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", "-Znone", str(tree), str(file)], check=True)
    data = file.read_bytes()
    index = f"{CONTROL}Filename: ./{file.name}\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n"
    fast_twin.shell.put(
        {
            f"/srv/packages/{file.name}": File(data),
            "/srv/packages/Packages": index,
            "/etc/apt/sources.list": "deb [trusted=yes] file:/srv/packages ./\n",
        }
    )


@pytest.fixture
def seen_by_testinfra(fast_twin: Container) -> Host:
    """The container by a third way, neither Ansible's nor ours."""
    import testinfra

    host: Any = testinfra.get_host("ssh://jetson@twin", ssh_config=str(fast_twin.shell.config), controlpersist=0)
    return host


@pytest.mark.usefixtures("with_repository")
def test_the_tools_are_installed_by_plain_ssh(controller: Controller, seen_by_testinfra: Host) -> None:
    packages = {"bench_tools_packages": [PACKAGE]}
    told = controller.play("tools.yml", "--check", **packages)
    assert (told.status, told.recap()["changed"]) == (0, 1), told.output
    assert f"Would install: {PACKAGE}" in told.output
    assert not seen_by_testinfra.package(PACKAGE).is_installed
    done = controller.play("tools.yml", **packages)
    assert (done.status, done.recap()["changed"]) == (0, 1), done.output
    again = controller.play("tools.yml", **packages)
    assert (again.status, again.recap()["changed"]) == (0, 0), again.output
    assert seen_by_testinfra.package(PACKAGE).version == "1.5-2"
    assert seen_by_testinfra.file(f"/usr/bin/{PACKAGE}").mode == 0o755
    assert seen_by_testinfra.run(PACKAGE).stdout == "it works\n"

"""./inv verify on boards in a container, by ssh as root and as a user: the right verdicts, and not a file changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli, environment
from fast.board import become_board
from twin.container import Container
from twin.l4t import layer
from twin.l4t.personalities import HALF, PERSONALITIES, PLAIN, SUPER

pytestmark = pytest.mark.root
# All that lies on the container's disks, with every time of change; and what a login itself writes is left out.
FILES = """
find / /tmp /dev/shm /run -xdev \\( -path /proc -o -path /sys -o -path /run/systemd -o -path /run/user \\
  -o -path /run/log -o -path /run/dbus -o -path /run/udev -o -path /run/twin-l4t -o -path /var/log -o -path /run/utmp \\
  -o -path /run/sshd -o -path '/run/motd*' -o -path /run/host -o -path /run/nologin \\) -prune \\
  -o ! -path /run -printf '%p %y %s %m %U %T@ %C@ %l\\n' | sort
systemctl list-units --no-legend --no-pager --plain --state=active --type=service | awk '{print $1}' | grep -v user
for file in $(find /sys/class/devfreq/17000000.gpu/ /sys/devices/system/cpu/cpu*/cpufreq/ -name 'm*_freq' -o \\
    -name 'scaling_m*_freq' 2>/dev/null) /var/lib/nvpmodel/status; do echo "$file $(cat "$file" 2>/dev/null)"; done
"""
BOARD = "super,power_mode,services,clocks,fan,nvme,versions"


class Lab:
    """A user with an inventory of the container: ``box`` is its user jetson, ``root`` its root."""

    def __init__(self, container: Container, folder: Path) -> None:
        self.container, self.cli = container, Cli(folder, environment(os.environ["PATH"]))
        self.hosts: dict[str, dict[str, Any]] = {}
        for name, user in (("box", "jetson"), ("root", "root")):
            self.add(name, ansible_user=user)

    def add(self, name: str, options: str = "", **values: Any) -> None:
        reach = {"ansible_host": "twin", "ansible_ssh_common_args": f"-F {self.container.shell.config}{options}"}
        self.hosts[name] = {**reach, "ansible_user": "jetson", **values}

    def verify(self, *words: str, status: int | None = 1) -> dict[str, dict[str, Any]]:
        """The hosts of the document, by label."""
        inventory = self.cli.directory / "hosts.json"
        inventory.write_text(json.dumps({"all": {"hosts": self.hosts}}), "utf-8")
        done = self.cli.run("verify", "--inventory", str(inventory), "--json", *words, status=status)
        assert self.container.shell.host not in done.stdout
        return {host["label"]: host for host in json.loads(done.stdout)["hosts"]}


@pytest.fixture
def lab(shared_fast_twin: Container, tmp_path: Path) -> Lab:
    return Lab(shared_fast_twin, tmp_path)


def failed(host: dict[str, Any]) -> list[str]:
    assert host["problem"] is None
    return [check["what"] for check in host["checks"] if check["status"] == "failed"]


def test_the_posts_symptom_is_found_by_root_and_user_and_no_file_changes(lab: Lab, shared_fast_twin: Container) -> None:
    become_board(shared_fast_twin, HALF)
    shell = shared_fast_twin.shell
    shell.run(["true"], user="jetson")  # a first login makes folders
    before = shell.script(FILES).splitlines()
    assert any(line.startswith("/etc/nvpmodel.conf l ") for line in before)
    hosts = lab.verify("--host", "box", "--host", "root", "--only", BOARD)
    assert shell.script(FILES).splitlines() == before
    assert list(hosts) == ["box", "root"]
    for host in hosts.values():
        assert failed(host) == ["clock tables of the bootloader", "super as a whole"]
        assert host["super"]["cause"].startswith("The mode says MAXN_SUPER but the GPU's table ends at 624.75 MHz")
    assert hosts["root"]["super"]["needs_root"] == []
    assert hosts["box"]["super"]["needs_root"][0] == "the firmware's own limits of GPU and memory"


def test_a_key_that_is_not_known_is_refused_whatever_the_inventory_says(lab: Lab, shared_fast_twin: Container) -> None:
    unknown = " -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no"
    config = shared_fast_twin.shell.config.read_text("utf-8")
    careless = lab.cli.directory / "careless"
    careless.write_text(config.replace("StrictHostKeyChecking yes", "StrictHostKeyChecking no"), "utf-8")
    careless.write_text(careless.read_text("utf-8").replace("known_hosts", "nothing_known"), "utf-8")
    lab.add("careless", unknown)
    lab.hosts["config"] = {**lab.hosts["box"], "ansible_ssh_common_args": f"-F {careless}"}
    address = f"jetson@{shared_fast_twin.shell.host}"
    inventory = lab.cli.directory / "hosts.json"
    inventory.write_text(json.dumps({"all": {"hosts": lab.hosts}}), "utf-8")
    words = ["--host", "careless", "--host", "config", "--host", address, "--inventory", str(inventory)]
    done = lab.cli.run("verify", *words, "--only", "nvme", status=1)
    lines = done.stderr.splitlines()
    assert [line.split(": ")[1] for line in lines] == ["careless", "config", address]
    assert all(": The host key is unknown or has changed, which is never accepted: " in line for line in lines)
    assert not (lab.cli.directory / "nothing_known").exists()


@pytest.mark.slow
def test_a_board_in_the_known_state_is_green_and_what_is_wanted_decides(lab: Lab, shared_fast_twin: Container) -> None:
    become_board(shared_fast_twin, PERSONALITIES["orin-nano-super-25w"])
    shell = shared_fast_twin.shell
    shell.script(
        "systemctl set-default multi-user.target; systemctl disable --now display-manager gdm 2>/dev/null || :"
    )
    lab.add("lower", power_mode_name="25W")
    lab.add("desktop", power_mode_name="25W", headless_target="graphical.target", power_mode_fan_profile="cool")
    hosts = lab.verify("--host", "lower", "--host", "box", "--host", "desktop")
    assert hosts["lower"]["green"], hosts["lower"]
    assert failed(hosts["box"]) == ["super as a whole", "power mode"]
    assert failed(hosts["desktop"]) == ["default target", "display manager", "fan profile"]
    assert lab.verify("--host", "lower", status=0)["lower"]["green"]


@pytest.mark.slow
def test_every_board_has_its_verdict_and_a_machine_that_is_none_is_told(lab: Lab, shared_fast_twin: Container) -> None:
    for board, verdict in ((SUPER, "super"), (PLAIN, "not_super")):
        become_board(shared_fast_twin, board)
        for host in lab.verify("--host", "all", "--only", "super", status=int(board is PLAIN)).values():
            assert (host["super"]["verdict"], host["green"]) == (verdict, board is SUPER)
    layer.remove(shared_fast_twin.shell)
    host = lab.verify("--host", "box")["box"]
    assert not host["green"]
    sentences = {check["sentence"] for check in host["checks"] if check["group"] == "super"}
    (sentence,) = sentences
    assert sentence.endswith("names a Tegra; on a machine that is none, use --only headless,memory,nvme.")
    shared_fast_twin.shell.script("systemctl set-default multi-user.target")
    assert lab.verify("--host", "box", "--only", "headless,memory,nvme", status=0)["box"]["green"]

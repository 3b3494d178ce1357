"""A fresh board is brought to the known state, proved to be in it, and put back to what it was: all by ./inv."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli, environment
from fast.board import become_board, seen
from twin.container import Container
from twin.l4t import shapes
from twin.l4t.personalities import PERSONALITIES

pytestmark = pytest.mark.root
FRESH = PERSONALITIES["orin-nano-super-15w"]
DESKTOP = "find /etc -xdev -printf '%p %M %U %G %l\\n' | sort; systemctl get-default; ls -d /var/lib/rerig 2>&1 || true"
VERIFIED = "super,power_mode,headless,services,clocks,fan"


class Owner:
    """Somebody without a home, whose inventory lies in a folder with a space in its name; ``orin`` is the container."""

    def __init__(self, container: Container, folder: Path) -> None:
        (folder / "my lab").mkdir()
        self.inventory = folder / "my lab" / "hosts.json"
        self.cli = Cli(folder, {**environment(os.environ["PATH"]), "HOME": ""})
        self.variables: dict[str, Any] = {
            "ansible_host": "twin",
            "ansible_user": "jetson",
            "ansible_ssh_common_args": f"-F {container.shell.config}",
            "ansible_control_path_dir": str(container.sockets),
            "bench_tools_packages": ["bash"],
        }

    def inv(self, task: str, *words: str, status: int = 0, **more: Any) -> subprocess.CompletedProcess[str]:
        hosts = {"orin": {**self.variables, **more}}
        self.inventory.write_text(json.dumps({"all": {"hosts": hosts}}), "utf-8")
        return self.cli.run(task, "--host", "orin", "--inventory", "my lab/hosts.json", *words, status=status)


def changed(done: subprocess.CompletedProcess[str]) -> int:
    """How many tasks changed something, by Ansible's own count."""
    found = re.search(r"^orin +: .*changed=(\d+)", done.stderr, re.MULTILINE)
    assert found, done.stderr
    return int(found[1])


def table(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What the command printed for its user, without the rows' spaces."""
    return [" ".join(line.split()) for line in done.stdout.splitlines() if line.strip()]


@pytest.mark.slow
def test_a_fresh_board_gets_to_the_known_state_and_back(shared_fast_twin: Container, tmp_path: Path) -> None:
    become_board(shared_fast_twin, FRESH)
    owner = Owner(shared_fast_twin, tmp_path)
    before = seen(shared_fast_twin)
    assert "graphical.target" in before

    told = owner.inv("provision", "--check")
    assert seen(shared_fast_twin) == before
    told_rows = table(told)
    assert told_rows[0] == "machine role what would change"
    assert told_rows[-1] == "Next: ./inv provision --host orin --inventory 'my lab/hosts.json'"
    assert "orin power_mode power mode 15W → MAXN_SUPER" in told_rows

    done = owner.inv("provision")
    rows = table(done)
    assert rows[2:-1] == told_rows[2:-1]
    assert rows[-1] == "Next: reboot orin, then ./inv verify --host orin --inventory 'my lab/hosts.json'"
    assert changed(done) > 0
    assert shapes.read_mode(shared_fast_twin.shell.script("nvpmodel -q")).name == "MAXN_SUPER"
    assert shared_fast_twin.shell.script("systemctl get-default") == "multi-user.target\n"

    again = owner.inv("provision")
    assert changed(again) == 0
    assert "bench_tools as it should be" in table(again)
    shared_fast_twin.reboot()
    owner.inv("verify", "--only", VERIFIED)

    back_told = owner.inv("restore", "--check")
    assert table(back_told)[0] == "machine role what would be put back"
    assert shared_fast_twin.shell.script("systemctl get-default") == "multi-user.target\n"
    back = owner.inv("restore")
    assert "power_mode power mode MAXN_SUPER → 15W" in table(back)
    assert "orin bench_tools installed packages stay" in table(back)
    shared_fast_twin.reboot()
    assert seen(shared_fast_twin) == before
    assert shared_fast_twin.shell.script("ls -d /var/lib/rerig 2>&1 || true").endswith("No such file or directory\n")

    assert changed(owner.inv("restore")) == 0
    assert seen(shared_fast_twin) == before


def test_what_can_t_be_done_is_one_sentence_and_changes_nothing(shared_fast_twin: Container, tmp_path: Path) -> None:
    become_board(shared_fast_twin, FRESH)
    owner = Owner(shared_fast_twin, tmp_path)
    before = seen(shared_fast_twin)
    refused = owner.inv("provision", "--only", "power_mode", status=1, power_mode_name="TURBO")
    assert last_line(refused).startswith("./inv: orin: This board's nvpmodel file has no mode TURBO, only 15W, 25W, ")
    unknown = f"-F {shared_fast_twin.shell.config} -o UserKnownHostsFile=/dev/null"
    stranger = owner.inv(
        "provision", status=1, ansible_ssh_common_args=unknown, ansible_control_path_dir=str(tmp_path / "cp")
    )
    assert "orin can't be reached: " in last_line(stranger)
    assert "Host key verification failed." in last_line(stranger)
    assert seen(shared_fast_twin) == before


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    return done.stderr.splitlines()[-1]


def test_a_machine_that_is_in_no_inventory_and_no_jetson_keeps_its_desktop(
    fast_twin: Container, tmp_path: Path
) -> None:
    cli = Cli(tmp_path, {**environment(os.environ["PATH"]), "ANSIBLE_SSH_CONTROL_PATH_DIR": str(fast_twin.sockets)})
    cli.environment["ANSIBLE_SSH_COMMON_ARGS"] = f"-F {fast_twin.shell.config}"
    before = fast_twin.shell.script(DESKTOP)
    done = cli.run("provision", "--host", "jetson@twin", "--only", "power_mode,headless")
    left = "left alone: This is not a Jetson: neither its device tree nor /etc/nv_tegra_release names a Tegra."
    assert table(done)[2:] == [
        f"jetson@twin power_mode {left}",
        f"headless {left}",
        "Next: ./inv verify --host jetson@twin",
    ]
    assert fast_twin.shell.script(DESKTOP) == before
    cli.environment["ANSIBLE_SSH_COMMON_ARGS"] = "-F /dev/null"
    gone = cli.run("provision", "--host", "twin.invalid", "--host", "jetson@twin.invalid", status=1)
    assert last_line(gone) == "./inv: 2 of 2 machines are not in their known state: twin.invalid, jetson@twin.invalid."
    assert "twin.invalid can't be reached: " in " ".join(table(gone))

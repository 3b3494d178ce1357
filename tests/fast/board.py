"""A container that is a board, and the user who provisions it."""

from __future__ import annotations

import os
from pathlib import Path

import yaml

from ansible_plays import Controller, Played
from twin.container import Container
from twin.l4t import layer
from twin.l4t.values import Personality

# /proc takes no new files in a container, and the kernel's own folder of the device tree does.
SEEN = """cd /
for folder in /etc /var/lib/nvpmodel /var/lib/nvfancontrol /var/lib/rerig; do
  [ ! -e $folder ] || find $folder -xdev ! -name '*.cache' -printf '%p %M %U %G %l\\n' | sort
done
find /etc -xdev -type f -print0 | sort -z | xargs -0 md5sum
md5sum /var/lib/nvpmodel/status
systemctl list-unit-files --no-legend --no-pager | awk '$2 != "transient" {print $1, $2}'
systemctl list-units --no-legend --no-pager --plain --state=active --type=service,swap | awk '{print $1}' | grep -v user
systemctl get-default
cat /proc/swaps
for file in /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_m*_freq /sys/devices/system/cpu/cpu[0-9]*/online \\
    /sys/class/devfreq/17000000.*/m*_freq /sys/kernel/nvpmodel_clk_cap/emc; do
  [ ! -e "$file" ] || echo "$file $(cat "$file")"
done
"""


def owner_of(container: Container, folder: Path) -> Controller:
    """A user whose one host is the container, logged in as jetson."""
    controller = Controller(folder, os.environ["PATH"])
    controller.hosts["box"] = {
        "ansible_host": "twin",
        "ansible_user": "jetson",
        "ansible_ssh_common_args": f"-F {container.shell.config}",
        "ansible_control_path_dir": str(container.sockets),
    }
    return controller


def become_board(container: Container, personality: Personality) -> None:
    """Make the container that board, as new, without what rerig noted of the one before."""
    container.shell.script("rm -rf /var/lib/rerig")
    layer.apply(container.shell, personality)


def seen(container: Container) -> list[str]:
    """What a provisioning might change, by a plain shell."""
    return container.shell.script(SEEN, limit_s=120).splitlines()


def play_of(path: Path, role: str, tasks_from: str = "main") -> Path:
    """A play of one role, which then shows the facts that the role leaves."""
    facts = {fact: "{{ " + f"{role}_{fact} | default(none)" + " }}" for fact in ("reboot_required", "changed_what")}
    tasks = [
        {"ansible.builtin.include_role": {"name": role, "tasks_from": tasks_from}},
        {"ansible.builtin.debug": {"msg": facts}},
    ]
    path.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": tasks}]), "utf-8")
    return path


def facts_of(played: Played, role: str) -> tuple[bool, list[str]]:
    """(reboot_required, changed_what) that the play of a role showed at its end."""
    assert played.status == 0, f"{role}: {played.output}"
    shown = played.said("ok")[-1]["msg"]
    return shown["reboot_required"], shown["changed_what"]

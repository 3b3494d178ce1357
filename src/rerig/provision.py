"""Brings machines to a declared state with the playbooks of this clone; only ever when somebody asks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

from rerig.checkout import ROOT
from rerig.errors import UserError
from rerig.play import run_play
from rerig.play_hosts import PlayHosts, find_play_hosts
from rerig.report import provisioning
from rerig.text import bounded, printable

INVENTORY = ROOT / "inventory" / "localhost"
SITE = ROOT / "playbooks" / "site.yml"
BY_HAND = "apt-get install fio"
# Measuring is another verb: ./inv rerun.
MEASURING = "measure"


@dataclass(frozen=True)
class Wish:
    """How a play is to go. ``only``: the roles of it, None for all; ``reboot``: whether roles may reboot."""

    check: bool = False
    diff: bool = False
    only: list[str] | None = None
    ask_become_pass: bool = False
    reboot: bool = False


def provision(words: list[str], inventory: str | None, wish: Wish) -> int:
    """Play site.yml on the machines that ``words`` name, and print what changed; the exit status.

    Raises UserError for words that make no sense, and about a single machine that failed.
    """
    known = site_roles()
    roles = known if wish.only is None else _chosen(wish.only, known)
    hosts = find_play_hosts(words, inventory)
    flags = [*play_flags(hosts, roles, wish), "--tags", ",".join(roles), "--skip-tags", MEASURING]
    played = run_play(SITE.name, hosts, flags)
    call = provisioning.Call(words, inventory, hosts.names, wish.check)
    return provisioning.print_provisioned(played, call, roles)


def site_roles() -> list[str]:
    """The roles that ``./inv provision`` plays, in their order: those of site.yml that have their own name as a tag."""
    import yaml

    plays = yaml.safe_load(SITE.read_text("utf-8"))
    roles = [role for play in plays for role in play.get("roles", []) if role["role"] in role.get("tags", [])]
    return [role["role"] for role in roles if role["role"] != MEASURING]


def play_flags(hosts: PlayHosts, roles: list[str], wish: Wish) -> list[str]:
    """ansible-playbook's flags for this wish. Raises UserError where nobody here may become root."""
    flags = [f"--{name}" for name, given in (("check", wish.check), ("diff", wish.diff)) if given]
    if wish.reboot:
        flags += [f'--extra-vars={{"{role}_reboot_ok": true}}' for role in roles]
    if wish.ask_become_pass:
        if not sys.stdin.isatty():
            raise UserError("--ask-become-pass needs a terminal to ask on, and there is none.", 2)
        return [*flags, "--ask-become-pass"]
    if not hosts.local:
        return flags
    return [*flags, *become_flags("Provisioning this machine", "sudo ./inv provision")]


def install_tools() -> None:
    """Let the role bench_tools install what the suites start (fio), on this machine.

    Raises UserError when nobody here may become root, or when the playbook fails.
    """
    hosts = PlayHosts(str(INVENTORY), {"localhost": "localhost"}, local=True)
    played = run_play("tools.yml", hosts, become_flags("Installing tools", f"sudo {BY_HAND}"))
    if played.status:
        raise UserError(f"The tools could not be installed (ansible-playbook: status {played.status}); see above.")


def become_flags(what: str, by_hand: str) -> list[str]:
    """How Ansible gets root here: root has it, sudo may ask nothing, else it asks for a password on the terminal.

    Raises UserError where none of these is possible; it says ``what`` needs root and what to type ``by_hand``.
    """
    if os.geteuid() == 0:
        return ["--extra-vars=ansible_become=false"]  # there may be no sudo
    sudo = shutil.which("sudo")
    if sudo is None:
        raise UserError(f"{what} needs root, and there is no sudo here; as root: {by_hand.removeprefix('sudo ')}.")
    probe = subprocess.run([sudo, "-n", "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if probe.returncode == 0:
        return []
    if sys.stdin.isatty():
        return ["--ask-become-pass"]
    raise UserError(f"{what} needs sudo's password, and there is no terminal to ask on: {by_hand}.")


def _chosen(only: list[str], known: list[str]) -> list[str]:
    """Those of ``known`` that are asked for, in their own order."""
    for name in only:
        if name not in known:
            shown = bounded(printable(name), 80)
            raise UserError(f"--only {shown!r}: there is no such part; there are {', '.join(known)}.", 2)
    return [name for name in known if name in only]

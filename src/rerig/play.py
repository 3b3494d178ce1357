"""Runs a playbook of this clone on machines: Ansible shows its progress, and what became of each task comes back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from rerig.checkout import ROOT
from rerig.errors import UserError
from rerig.play_events import HostOutcome, read_outcomes
from rerig.play_hosts import PlayHosts
from rerig.signals import handling

SYSTEM_PYTHON = Path("/usr/bin/python3")
OUR_STDERR = 2
# Below such a folder the name of a socket still fits: 107 bytes, of which ssh takes 28 for its own.
LONGEST_FOLDER = 60
ENDING = (signal.SIGTERM, signal.SIGHUP)
KILLED_BY = 128  # an exit status above it, as a shell reports a signal


@dataclass(frozen=True)
class Played:
    """Ansible's exit status, and what came of each machine by Ansible's name."""

    status: int
    hosts: dict[str, HostOutcome]


def run_play(playbook: str, hosts: PlayHosts, flags: list[str]) -> Played:
    """Run ``playbooks/PLAYBOOK`` on these machines, with more flags of ansible-playbook.

    All that Ansible prints goes to stderr. Raises UserError when it was stopped or never began.
    """
    with _scratch() as scratch:
        lines = scratch / "lines"
        lines.touch(mode=0o600)
        command = [*playbook_command(playbook, hosts.local), *hosts.flags(scratch), *flags]
        status = _run(command, play_environment(scratch, lines, hosts.local))
        with lines.open(encoding="utf-8") as written:
            outcomes = read_outcomes(written)
    if not outcomes:
        raise UserError(f"Ansible ended (status {status}) before it did anything on a machine; see above.")
    return Played(status, outcomes)


def playbook_command(name: str, local: bool) -> list[str]:
    """The argv that runs a playbook of this clone.

    By ``-m ansible``: the script ansible-playbook names its interpreter in its first line, which breaks on long paths.
    """
    command = [sys.executable, "-I", "-m", "ansible", "playbook", str(ROOT / "playbooks" / name)]
    if local and not SYSTEM_PYTHON.exists():  # an image that has Python elsewhere
        command.append(f"--extra-vars=ansible_python_interpreter={os.path.realpath(sys.executable)}")
    return command


def play_environment(scratch: Path, lines: Path, local: bool) -> dict[str, str]:
    """Ansible's environment: the user's, with this clone's settings and folders that can be written to.

    Connections are kept for a minute in the user's own ``~/.ansible`` (if there can be one), where the next call finds
    them again.
    """
    kept = {name: value for name, value in os.environ.items() if name != "LANGUAGE" and (name != "HOME" or value)}
    own = {
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_HOME": str(scratch),
        "ANSIBLE_HOST_KEY_CHECKING": "true",
        "ANSIBLE_CALLBACK_PLUGINS": _with("ANSIBLE_CALLBACK_PLUGINS", str(ROOT / "plugins" / "callback"), os.pathsep),
        "ANSIBLE_CALLBACKS_ENABLED": _with("ANSIBLE_CALLBACKS_ENABLED", "rerig_lines", ","),
        "RERIG_PLAY_LINES": str(lines),
        "LC_ALL": "C.UTF-8",
    }
    if local:
        own["ANSIBLE_REMOTE_TEMP"] = str(scratch / "remote")
    defaults = {"ANSIBLE_DISPLAY_SKIPPED_HOSTS": "false"}
    home = Path(kept.get("HOME", os.devnull))
    sockets = home / ".ansible" / "cp"
    if len(os.fsencode(sockets)) <= LONGEST_FOLDER and home.is_dir() and _may_write(sockets):
        defaults["ANSIBLE_SSH_CONTROL_PATH_DIR"] = str(sockets)
    return {**defaults, **kept, **own}


def _with(name: str, own: str, between: str) -> str:
    """The user's own list, and ours."""
    given = os.environ.get(name)
    return f"{given}{between}{own}" if given else own


def _may_write(folder: Path) -> bool:
    """Whether it can be made, or written to where it is there."""
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder of our own for one call, where the names of sockets still fit."""
    fits = len(os.fsencode(tempfile.gettempdir())) <= LONGEST_FOLDER - len("/rerig-ansible-12345678/cp")
    folder = None if fits else "/tmp"  # noqa: S108 - the folder in it gets a random name and is ours alone
    with tempfile.TemporaryDirectory(prefix="rerig-ansible-", dir=folder) as name:
        yield Path(name)


def _run(command: list[str], environment: dict[str, str]) -> int:
    """Its exit status. Ctrl-C and the signals that end us end it first, so that it can end what it has begun."""
    stopped: list[int] = []
    children: list[subprocess.Popen[bytes]] = []
    stdin = None if sys.stdin is not None and sys.stdin.isatty() else subprocess.DEVNULL

    def stop(number: int, _frame: FrameType | None) -> None:
        stopped.append(number)
        for child in children:
            child.send_signal(signal.SIGINT)  # Ansible ends its workers on this one

    with handling(ENDING, stop), subprocess.Popen(command, env=environment, stdin=stdin, stdout=OUR_STDERR) as child:
        children.append(child)
        if stopped:  # before it was known which process to tell
            child.send_signal(signal.SIGINT)
        try:
            status = child.wait()
        except KeyboardInterrupt:  # the terminal gave it to Ansible too
            child.wait()
            raise
    if stopped:
        raise UserError(f"stopped by {signal.Signals(stopped[0]).name}.", KILLED_BY + stopped[0])
    return status

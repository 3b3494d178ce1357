"""What a play came to, from the lines that plugins/callback/rerig_lines.py wrote: pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rerig.text import bounded, printable

LONGEST_SAID = 400
# What Ansible puts before a message.
PREFIXES = ("Task failed: ", "Action failed: ", "Module failed: ", "Failed to connect to the host via ssh: ")
NOT_A_JETSON = "not_a_jetson"


@dataclass
class RoleOutcome:
    """What a role did on a machine, or in check mode would do.

    ``sentences``: as the role itself says it. ``tasks``: names of the tasks that changed something. ``skipped``: every
    task of it was. ``reboot_required``: what it did takes effect with a reboot.
    """

    sentences: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    reboot_required: bool = False
    skipped: bool = True

    @property
    def changes(self) -> list[str]:
        """What changed, in the role's words where it has any."""
        return self.sentences or self.tasks


@dataclass
class HostOutcome:
    """What came of a machine. ``failure``: Ansible's message, or None; ``not_a_jetson``: that sentence, or None."""

    roles: dict[str, RoleOutcome] = field(default_factory=dict)
    failure: str | None = None
    failed_role: str | None = None
    unreachable: bool = False
    not_a_jetson: str | None = None
    tasks: int = 0
    remote_tasks: int = 0
    changed: int = 0


def read_outcomes(lines: Iterable[str]) -> dict[str, HostOutcome]:
    """Each machine that the play had, by Ansible's name. A line that was cut off, as by a kill, is left out."""
    hosts: dict[str, HostOutcome] = {}
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if not isinstance(event, dict):
            continue
        if event.get("event") == "task":
            _take_task(hosts.setdefault(str(event["host"]), HostOutcome()), event)
        elif event.get("event") == "end":
            for name, counts in event["hosts"].items():
                _close(hosts.setdefault(name, HostOutcome()), counts)
    return hosts


def failure_sentence(host: str, failure: str, unreachable: bool) -> str:
    """Why a machine isn't as it should be, in one sentence that begins with its name."""
    said = plain_message(failure)
    host = printable(host)
    if "password is required" in said or "Missing sudo password" in said:
        return f"{host}: sudo wants a password there; give --ask-become-pass."
    if "ncorrect sudo password" in said:
        return f"{host}: sudo doesn't take this password."
    return f"{host} can't be reached: {said}." if unreachable else f"{host}: {said}."


def plain_message(text: str) -> str:
    """Ansible's message in one line, without what it puts before and without a full stop."""
    words = " ".join(printable(line) for line in text.replace("\r", "\n").split("\n") if line.strip())
    for prefix in PREFIXES:
        words = words.removeprefix(prefix)
    return bounded(" ".join(words.split()), LONGEST_SAID).rstrip(".:")


def _take_task(host: HostOutcome, event: dict[str, Any]) -> None:
    status, role = event["status"], event.get("role")
    host.tasks += status != "skipped"
    host.remote_tasks += bool(event.get("remote"))
    if status in ("failed", "unreachable"):
        host.failure = str(event.get("said") or f"the task {event['task']} failed")
        host.unreachable = status == "unreachable"
        host.failed_role = role
    look = event.get("look")
    if look and look.get("verdict") == NOT_A_JETSON:
        host.not_a_jetson = str(look.get("cause"))
    if not role:
        return
    outcome = host.roles.setdefault(str(role), RoleOutcome())
    outcome.skipped = outcome.skipped and status == "skipped"
    if status == "changed":
        outcome.tasks.append(str(event["task"]).rpartition(" | ")[2])
    facts = event.get("facts") or {}
    if isinstance(facts.get("changed_what"), list):
        outcome.sentences = [str(sentence) for sentence in facts["changed_what"]]
    if "reboot_required" in facts:
        outcome.reboot_required = facts["reboot_required"] is True


def _close(host: HostOutcome, counts: dict[str, Any]) -> None:
    """Ansible's counts decide whether a failure was mended (rescued) in between."""
    host.changed = int(counts.get("changed", 0))
    if not counts.get("failures") and not counts.get("unreachable"):
        host.failure, host.failed_role, host.unreachable = None, None, False
    elif host.failure is None:
        host.failure = "a task failed; see above"

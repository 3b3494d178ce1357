"""What a provisioning or its undoing came to, as a table with the next command under it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rerig.errors import UserError
from rerig.play_events import HostOutcome, RoleOutcome, failure_sentence
from rerig.report.terminal import plain_table, print_lines
from rerig.text import bounded, printable

if TYPE_CHECKING:
    from rerig.play import Played

LONGEST_CHANGE = 300
NOTHING = "as it should be"
NOTHING_PUT_BACK = "nothing to put back"
# Nobody can tell by now who else needs what was installed.
STAYS = {"bench_tools": "installed packages stay"}
# A reboot by hand does not put its change in force: the tool has to be asked, and then reboots itself.
REBOOTS_ITSELF = "power_mode"


@dataclass(frozen=True)
class Call:
    """What the user typed: ``words`` of --host, and by ``names`` which machines of Ansible's they are."""

    words: list[str]
    inventory: str | None
    names: dict[str, str]
    check: bool

    def again(self, task: str, *flags: str) -> str:
        """A command for the same machines, as it is to be typed."""
        hosts = [word for host in self.words for word in ("--host", host)]
        inventory = ["--inventory", self.inventory] if self.inventory else []
        return shlex.join(["./inv", task, *hosts, *inventory, *flags])


def print_provisioned(played: Played, call: Call, roles: list[str]) -> int:
    """Print what changed, or in check mode would; the exit status. Raises UserError about a single one that failed."""
    title = "what would change" if call.check else "what changed"
    outcomes = _outcomes(played, call)
    _print_table(title, outcomes, roles, {})
    print_lines([f"Next: {line}" for line in _next(outcomes, call)])
    return _verdict(outcomes, played.status, "are not in their known state")


def print_restored(played: Played, call: Call, roles: list[str]) -> int:
    """As ``print_provisioned``, of what was put back."""
    title = "what would be put back" if call.check else "what was put back"
    outcomes = _outcomes(played, call)
    _print_table(title, outcomes, roles, {role: STAYS.get(role, NOTHING_PUT_BACK) for role in roles})
    print_lines([f"Next: {line}" for line in _next_after_restore(outcomes, call)])
    return _verdict(outcomes, played.status, "are not as they were")


def _outcomes(played: Played, call: Call) -> dict[str, HostOutcome]:
    """By the user's own word, each machine that was asked for; one that the play did not come to has failed."""
    unseen = HostOutcome(failure="Ansible ended before it came to this machine; see above")
    return {word: played.hosts.get(name, unseen) for name, word in call.names.items()}


def _print_table(title: str, outcomes: dict[str, HostOutcome], roles: list[str], nothing: dict[str, str]) -> None:
    """``nothing``: what is said of a role that changed nothing, if not that all is as it should be."""
    rows = []
    for word, outcome in outcomes.items():
        lines = [
            (role, line)
            for role in roles
            if role in outcome.roles and (role != outcome.failed_role or outcome.roles[role].changes)
            for line in _lines(outcome, outcome.roles[role], nothing.get(role, NOTHING))
        ]
        if outcome.failure is not None and len(outcomes) > 1:  # of a single one it is the last thing that is said
            lines.append((outcome.failed_role or "", failure_sentence(word, outcome.failure, outcome.unreachable)))
        shown = [word, *[""] * len(lines)]
        rows += [[printable(machine), *cells] for machine, cells in zip(shown, _once(lines), strict=False)]
    if rows:
        plain_table(["machine", "role", title], rows, numbers=())


def _lines(outcome: HostOutcome, role: RoleOutcome, nothing: str) -> list[str]:
    if role.skipped and outcome.not_a_jetson:
        return [f"left alone: {outcome.not_a_jetson}"]
    changes = [bounded(printable(change), LONGEST_CHANGE) for change in role.changes]
    if role.reboot_required:
        return [*changes, "in force after a reboot"] if changes else [f"{nothing} after a reboot"]
    return changes or [nothing]


def _once(lines: list[tuple[str, str]]) -> list[list[str]]:
    """Each role's name at its first line only."""
    names = [role for role, _line in lines]
    return [["" if place and names[place - 1] == role else role, line] for place, (role, line) in enumerate(lines)]


def _next(outcomes: dict[str, HostOutcome], call: Call) -> list[str]:
    """The commands to type now, in their order; none after a failure, which says by itself what to do."""
    if any(outcome.failure for outcome in outcomes.values()):
        return []
    verify = call.again("verify")
    if call.check:
        would = any(role.changes for outcome in outcomes.values() for role in outcome.roles.values())
        return [call.again("provision") if would else verify]
    by_itself = _waiting(outcomes, [REBOOTS_ITSELF])
    others = _waiting(
        outcomes, [role for outcome in outcomes.values() for role in outcome.roles if role != REBOOTS_ITSELF]
    )
    if by_itself:
        again = call.again("provision", "--only", REBOOTS_ITSELF, "--reboot")
        return [f"{again} (reboots {_and(by_itself)}), then {verify}"]
    return [f"reboot {_and(others)}, then {verify}" if others else verify]


def _next_after_restore(outcomes: dict[str, HostOutcome], call: Call) -> list[str]:
    if any(outcome.failure for outcome in outcomes.values()):
        return []
    if call.check:
        would = any(role.changes for outcome in outcomes.values() for role in outcome.roles.values())
        return [call.again("restore")] if would else []
    by_itself = _waiting(outcomes, [REBOOTS_ITSELF])
    if by_itself:
        return [f"{call.again('restore', '--reboot')} (reboots {_and(by_itself)})"]
    waiting = _waiting(outcomes, [role for outcome in outcomes.values() for role in outcome.roles])
    return [f"reboot {_and(waiting)}, to have the desktop back"] if waiting else []


def _waiting(outcomes: dict[str, HostOutcome], roles: list[str]) -> list[str]:
    """The machines on which one of these roles waits for a reboot."""
    return [
        word
        for word, outcome in outcomes.items()
        if any(role.reboot_required for name, role in outcome.roles.items() if name in roles)
    ]


def _and(words: list[str]) -> str:
    return ", ".join(map(printable, words))


def _verdict(outcomes: dict[str, HostOutcome], status: int, what: str) -> int:
    failed = {word: outcome for word, outcome in outcomes.items() if outcome.failure is not None}
    if not failed:
        return 1 if status else 0
    if len(outcomes) == 1:
        ((word, outcome),) = failed.items()
        raise UserError(failure_sentence(word, outcome.failure or "", outcome.unreachable))
    raise UserError(f"{len(failed)} of {len(outcomes)} machines {what}: {_and(list(failed))}.")

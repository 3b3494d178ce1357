"""``./inv verify``: whether machines are in the known state, each looked at and none changed."""

from __future__ import annotations

import sys
from typing import Any

from rerig.errors import UserError
from rerig.report import known_state
from rerig.side_by_side import run_side_by_side
from rerig.text import bounded, printable
from rerig.verify_checks import GROUPS
from rerig.verify_hosts import find_subjects
from rerig.verify_run import Children, run_checks

FORMAT = {"format": "rerig-verify", "format_version": "1.0"}


def verify(words: list[str], inventory: str, only: str, as_json: bool, sudo: bool = False) -> int:
    """Check the machines that ``words`` name (none: this one) and print what was found; 0 if all is as it should be.

    ``only``: names of groups with commas between them. Raises UserError for wrong words, before any machine is met.
    """
    groups = parse_groups(only)
    if sudo and not words:
        raise UserError("--sudo is for other machines; to be root on this one, start ./inv with sudo.", 2)
    subjects = {subject.label: subject for subject in find_subjects(words, inventory or None)}
    children = Children()
    try:
        answers = run_side_by_side(subjects, lambda subject: run_checks(subject, groups, sudo, children))
    finally:
        children.end_all()
    hosts = [_host(label, answer) for label, answer in answers.items()]
    if as_json:
        known_state.print_document({**FORMAT, "hosts": hosts})
    else:
        known_state.print_hosts(hosts)
    sys.stdout.flush()
    for host in hosts:
        if host["problem"]:
            print(f"./inv: {printable(host['label'])}: {host['problem']}", file=sys.stderr)
    return 0 if hosts and all(host["green"] for host in hosts) else 1


def parse_groups(only: str) -> list[str]:
    """The groups that ``--only`` names, each once; all for "". Raises UserError for a name that is none."""
    if not only:
        return list(GROUPS)
    words = [word.strip() for word in only.split(",")]
    for word in words:
        if word not in GROUPS:
            shown = bounded(printable(word), 40) or "an empty name"
            raise UserError(f"--only: there are no checks named {shown}; there are {', '.join(GROUPS)}.", 2)
    return [group for group in GROUPS if group in words]


def _host(label: str, answer: dict[str, Any] | UserError) -> dict[str, Any]:
    if not isinstance(answer, UserError):
        return answer
    return {"label": label, "green": False, "problem": str(answer), "super": None, "checks": []}

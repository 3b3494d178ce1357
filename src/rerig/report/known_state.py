"""What ./inv verify found, on the terminal or as one JSON document."""

from __future__ import annotations

import json
from typing import Any

from rerig.report.terminal import plain_table, print_lines
from rerig.text import printable

HEADER = ["state", "what", "found", "wanted"]


def print_document(document: dict[str, Any]) -> None:
    """Print the document, see :mod:`rerig.verify_run` for what it has of a host."""
    print(json.dumps(document, indent=2, ensure_ascii=False))


def print_hosts(hosts: list[dict[str, Any]]) -> None:
    """Print a table a host with its sentences below; of several, a closing line each."""
    for host in hosts:
        if host["checks"]:
            _print_host(host)
    if len(hosts) > 1:
        print_lines([f"{printable(host['label'])}: {_closing(host)}" for host in hosts])


def _print_host(host: dict[str, Any]) -> None:
    print_lines([f"{printable(host['label'])}{_board(host)}"])
    plain_table(HEADER, [_row(check) for check in host["checks"]], numbers=())
    cause = (host["super"] or {}).get("cause")
    asked = any(check["group"] == "super" for check in host["checks"])
    for word in ("failed", "warning"):
        sentences: dict[str, list[str]] = {}
        for check in host["checks"]:
            for sentence in [check["sentence"]] if word == "failed" else check["warnings"]:
                if sentence and not (asked and sentence == cause):
                    sentences.setdefault(sentence, []).append(check["what"])
        print_lines([f"{word}: {_of(names)}{printable(sentence)}" for sentence, names in sentences.items()])
    if needed := (host["super"] or {}).get("needs_root"):
        print_lines([f"Root would also see {'; '.join(needed)}."])
    print_lines([printable(cause)] if cause and asked else [])
    print_lines([_closing(host), ""])


def _row(check: dict[str, Any]) -> list[str]:
    return [check["status"], printable(check["what"]), *(_lines(check[side]) for side in ("found", "wanted"))]


def _lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))


def _of(names: list[str]) -> str:
    """Whose sentence it is, where that is only one check's."""
    return f"{printable(names[0])}: " if len(names) == 1 else ""


def _board(host: dict[str, Any]) -> str:
    board = (host["super"] or {}).get("board") or {}
    found = [board.get("name"), f"L4T {board['release']}" if board.get("release") else None]
    named = ", ".join(printable(part) for part in found if part)
    return f": {named}" if named else ""


def _closing(host: dict[str, Any]) -> str:
    checks = host["checks"]
    if not checks:
        return "nothing could be checked."
    if host["green"]:
        warnings = sum(check["status"] == "warning" for check in checks)
        said = "" if not warnings else f", {warnings} with a warning"
        return f"In the known state: {len(checks)} checks{said}."
    failed = sum(check["status"] not in ("ok", "warning") for check in checks)
    return f"Not in the known state: {failed} of {len(checks)} checks failed."

"""All runs below some directories, each with how it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .exits import EXIT_USAGE, Refused, complain
from .journal import JOURNAL_NAME
from .shell_words import shell_word
from .status import PLAN_NAME, look


def list_runs(directories: list[Path], as_json: bool) -> int:
    """Print the status of every run right below some directories; a damaged one is a sentence and hides no other."""
    documents = []
    status = 0
    for directory in directories:
        try:
            entries = sorted(directory.iterdir())
        except OSError as error:
            complain(f"{shell_word(str(directory))} can't be read: {error.strerror}.")
            status = EXIT_USAGE
            continue
        documents += [found for found in map(_document, entries) if found is not None]
    if as_json:
        print(json.dumps(documents), flush=True)
    else:
        for document in documents:
            print(_line(document), flush=True)
    return status


def _document(run_dir: Path) -> dict[str, Any] | None:
    """None for what is no run, and (with a sentence) for a damaged one."""
    try:
        if run_dir.name.startswith(".") or not any((run_dir / name).exists() for name in (PLAN_NAME, JOURNAL_NAME)):
            return None
        return look(run_dir).document()
    except Refused as error:
        complain(str(error))
    except OSError as error:
        complain(f"The run in {shell_word(str(run_dir))} can't be read: {error.strerror}.")
    return None


def _line(document: dict[str, Any]) -> str:
    words = [shell_word(str(document[name])) for name in ("run_id", "state", "suite", "started_at")]
    words.insert(2, "{cases_done}/{cases_total}".format(**document))
    return "  ".join(words).encode("utf-8", "surrogateescape").decode("utf-8", "replace")

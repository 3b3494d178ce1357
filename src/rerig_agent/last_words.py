"""Why a run came to no good end, as far as its directory tells."""

from __future__ import annotations

import os

from .exits import EXIT_NOTHING_MEASURED
from .files import read_plain
from .identity import read_boot_id
from .sessions import session_file
from .status import LOG_NAME, RunLook

FULL_BYTES = 65536
ENDED_BY_SIGNAL = 128
PREFIX = "rerig-agent: "


def last_words(found: RunLook) -> str | None:
    """One sentence about a run that is over; None where it ended well, or was stopped as somebody asked."""
    status = found.exit_status
    if status is None:
        return _why_killed(found)
    if status == EXIT_NOTHING_MEASURED:
        return "Nothing could be measured."
    if 0 < status <= ENDED_BY_SIGNAL:
        return _said(found) or _full(found) or "The run broke off with an error."
    return None


def _why_killed(found: RunLook) -> str:
    boot_id = read_boot_id()
    if found.sessions and boot_id is not None and found.sessions[-1].start.get("boot_id") not in (boot_id, None):
        return "The machine was started anew while the run went on (a reboot, or a power cut)."
    said = _said(found)
    if said is not None:
        return f"The run broke off: {said}"
    return _full(found) or "The run was killed (by kill -9, or because the memory ran out)."


def _full(found: RunLook) -> str | None:
    space = os.statvfs(str(found.run_dir))
    if space.f_bavail * space.f_frsize < FULL_BYTES:
        return "The disk that holds the run is full, so that it could not go on."
    return None


def _said(found: RunLook) -> str | None:
    """The last sentence in the session's log."""
    try:
        text = read_plain(found.run_dir / session_file(LOG_NAME, max(1, len(found.sessions))))
    except OSError:
        return None
    lines = text.decode("utf-8", "replace").splitlines()
    return next((line[len(PREFIX) :] for line in reversed(lines) if line.startswith(PREFIX)), None)

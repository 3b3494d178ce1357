"""How a run ended, as the controller tells it."""

from __future__ import annotations

from dataclasses import dataclass

KILLED = 75  # what the agent says of a run that was killed; EX_TEMPFAIL of sysexits.h


@dataclass(frozen=True)
class Outcome:
    """``status``: 0 measured, 1 nothing measured or failed, 75 killed, 128 + n stopped by signal n.

    ``sentence``: what the user must know beyond that, once the result of what there is has been shown.
    """

    status: int
    sentence: str | None = None

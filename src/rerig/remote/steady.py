"""A shell on another machine that is opened anew when the connection is lost, with bounded patience."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from rerig.remote.lost import ConnectionLost, Unreachable
from rerig.remote.shell import Shell

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 10.0
PATIENCE_S = 120.0  # without any progress; a board needs a minute to boot

Answer = TypeVar("Answer")


class SteadyShell:
    """Opens a shell when one is needed; ``open_shell`` closes what it opened before.

    ``wait`` and ``clock`` (both in seconds) are the time's own, unless a test brings others.
    """

    def __init__(
        self,
        open_shell: Callable[[], Shell],
        wait: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open_shell = open_shell
        self._wait = wait
        self._clock = clock
        self._shell: Shell | None = None
        self._was_open = False
        self._wait_s = FIRST_WAIT_S
        self._silent_since: float | None = None

    def open(self) -> Shell:
        """The shell, opened now if need be. Raises UserError; a first connection is not tried again."""
        if self._shell is None:
            self._shell = self._open_shell()
            self._was_open = True
        return self._shell

    def do(self, action: Callable[[Shell], Answer]) -> Answer:
        """What ``action`` gives, which is begun anew on a new connection each time that one is lost.

        So it must do no harm twice. Raises ConnectionLost when patience is at its end, UserError where no connection
        comes about for a reason that does not pass.
        """
        while True:
            try:
                answer = action(self.open())
            except (ConnectionLost, Unreachable) as error:  # noqa: PERF203 - each turn waits for a connection
                if isinstance(error, Unreachable) and not self._was_open:
                    raise
                self._back_off(str(error))
            else:
                self.progress()
                return answer

    def progress(self) -> None:
        """The machine was heard: patience begins anew."""
        self._silent_since = None
        self._wait_s = FIRST_WAIT_S

    def _back_off(self, why: str) -> None:
        self._shell = None
        now = self._clock()
        if self._silent_since is None:
            self._silent_since = now
        if now - self._silent_since >= PATIENCE_S:
            raise ConnectionLost(why)
        self._wait(self._wait_s)
        self._wait_s = min(2 * self._wait_s, LONGEST_WAIT_S)

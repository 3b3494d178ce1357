"""What ends a connection, told apart by whether another try may help."""

from __future__ import annotations

from rerig.errors import UserError


class ConnectionLost(Exception):
    """A connection that stood is gone, or the machine fell silent; what ran there may go on. One sentence."""


class Unreachable(UserError):
    """No connection came about, for a reason that may pass (a machine that boots, a cable). One sentence.

    For a first try it is final, as any UserError; who reconnects may try again.
    """

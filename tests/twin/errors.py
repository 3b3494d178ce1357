"""The one exception whose text a user of the twin is meant to read."""

from __future__ import annotations


class TwinError(Exception):
    """What the user can mend, as one clear sentence."""

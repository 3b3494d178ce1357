"""Times as documents hold them: UTC, ISO 8601, up to microseconds."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

# The same form as common-1.0.schema.json#/$defs/instant.
_INSTANT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.]([0-9]{1,6}))?(?:Z|[+]00:00)", re.ASCII
)


def read_instant(value: object) -> datetime | None:
    """The moment that ``value`` names (UTC, without a zone of its own); None for anything else, or a 31st of June."""
    match = _INSTANT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    try:
        second = datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S")
    except ValueError:
        return None
    return second + timedelta(microseconds=int((match[2] or "0").ljust(6, "0")))


def format_instant(moment: datetime) -> str:
    """``2026-01-31T08:15:00.123000Z``."""
    return moment.isoformat(timespec="microseconds") + "Z"


def seconds_between(earlier: datetime | None, later: datetime | None) -> float | None:
    """Seconds from one moment to the next, to a millisecond; None where a moment is not known."""
    return None if earlier is None or later is None else round((later - earlier).total_seconds(), 3) + 0.0

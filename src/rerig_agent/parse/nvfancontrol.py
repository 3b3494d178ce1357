"""The fan's profile: what nvfancontrol says or keeps ("FAN_PROFILE:cool"), and the default in its configuration."""

from __future__ import annotations

import re

from . import ParseError
from .lines import split_lines

_NAME = r"([A-Za-z][A-Za-z0-9_-]{0,31})\Z"
# "FAN1:" may stand in front, and a log's words in front of that.
_PROFILE = re.compile(rf"(?:.*[ \t:])?FAN_PROFILE:[ \t]*{_NAME}")
_DEFAULT = re.compile(rf"FAN_DEFAULT_PROFILE[ \t]+{_NAME}")


def parse_profile(text: str) -> str:
    """``nvfancontrol -q``, or /var/lib/nvfancontrol/status; of several fans the first."""
    return _word(_PROFILE, text)


def parse_default_profile(text: str) -> str:
    """/etc/nvfancontrol.conf."""
    return _word(_DEFAULT, text)


def _word(pattern: re.Pattern[str], text: str) -> str:
    found = (pattern.match(line.partition("#")[0].rstrip()) for line in split_lines(text, "text about a fan"))
    match = next((match for match in found if match), None)
    if match is None:
        raise ParseError("no fan profile is named")
    return match.group(1)

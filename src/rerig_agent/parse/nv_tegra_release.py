"""/etc/nv_tegra_release: the release of L4T, from R35 to R39."""

from __future__ import annotations

import re
from typing import Any

from . import ParseError
from .lines import split_lines

_RELEASE = re.compile(
    r"#[ \t]*R([0-9]{1,3}) \(release\), REVISION: ([0-9]{1,3})\.([0-9]{1,3})(?:\.([0-9]{1,3}))?(?=,|\Z)"
    r"(?:, GCID: ([0-9]{1,12}))?(?:, BOARD: (\w{1,40}))?(?:, EABI: \w{1,40})?(?:, DATE: (.{1,60}))?",
    re.ASCII,
)


def parse_release(text: str) -> dict[str, Any]:
    """-> {"version": "36.4.7", "major": 36, "minor": 4, "patch": 7, "gcid", "board", "date": str or None}.

    A fourth number of a revision is part of ``version`` alone. An unknown release comes out as it stands.
    """
    found = (_RELEASE.match(line) for line in split_lines(text, "nv_tegra_release"))
    match = next((match for match in found if match), None)
    if match is None:
        raise ParseError("this is no nv_tegra_release")
    numbers = [int(word) for word in match.groups()[:4] if word is not None]
    return {
        "version": ".".join(map(str, numbers)),
        "major": numbers[0],
        "minor": numbers[1],
        "patch": numbers[2],
        "gcid": match.group(5),
        "board": match.group(6),
        "date": match.group(7),
    }

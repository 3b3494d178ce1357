"""The power monitor INA3221 in hwmon: a name, millivolts and milliamperes of each rail; no power is there to be read.

On Orin modules channels 1 to 3 are VDD_IN, VDD_CPU_GPU_CV and VDD_SOC. Further voltages without a current of the same
number (the shunts, their sum) are no rails, nor are channels that are called NC (not connected).
"""

from __future__ import annotations

import re
from typing import Any, Mapping

from . import ParseError
from .numbers import signed, whole

_FILE = re.compile(r"in([0-9]{1,2})_label\Z")
_LABEL = re.compile(r"[A-Z][A-Z0-9_]{1,40}\Z")
UNCONNECTED = "NC"


def parse_rails(files: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Texts of in1_label, in1_input, curr1_input, … -> {"VDD_IN": {"channel", "mv", "ma", "mw", "critical_ma"}}.

    mw is mv x ma / 1000, rounded. A current may be a little below 0 on an idle rail. "critical_ma" is curr*_crit, at
    which the board is throttled, or None. ParseError: no rail, two of one name, or one whose numbers are none.
    """
    rails: dict[str, dict[str, Any]] = {}
    for file in sorted(files):
        match = _FILE.match(file)
        if match is None or f"curr{match.group(1)}_input" not in files:
            continue
        channel, name = match.group(1), files[file].strip(" \t\r\n")
        if name == UNCONNECTED:
            continue
        if not _LABEL.match(name) or name in rails:
            raise ParseError("a rail of the power monitor has no name of its own")
        millivolts = whole(files.get(f"in{channel}_input", "").strip(" \t\r\n"), f"the voltage of {name}")
        milliamperes = signed(files[f"curr{channel}_input"].strip(" \t\r\n"), f"the current of {name}")
        critical = files.get(f"curr{channel}_crit")
        rails[name] = {
            "channel": int(channel),
            "mv": millivolts,
            "ma": milliamperes,
            "mw": round(millivolts * milliamperes / 1000),
            "critical_ma": None if critical is None else whole(critical.strip(" \t\r\n"), f"the limit of {name}"),
        }
    if not rails:
        raise ParseError("the power monitor names no rail")
    return rails

"""nvfancontrol: the fan's profile, from its status where it runs or ran, else from the configuration's default."""

from __future__ import annotations

import re
import signal

from . import board, place

CONF = "/etc/nvfancontrol.conf"
STATUS = "/var/lib/nvfancontrol/status"


def main(words: list[str]) -> int:
    if not place.is_root():
        print("NVFAN ERROR: Sudo permissions are required to execute nvfancontrol user daemon")
        return 1
    if words == ["-q"]:
        for line in (place.read(STATUS) or start()).splitlines():
            print(line)
        return 0
    if words:
        place.die("Usage: nvfancontrol [-q]")
    start()
    while True:  # the daemon
        signal.pause()


def start() -> str:
    """Write the status as the daemon does when it starts: a stored profile wins over the configuration's."""
    if place.read(STATUS) is None:
        found = re.search(r"FAN_DEFAULT_PROFILE\s+(\w+)", place.read(CONF) or "")
        profile = found.group(1) if found else "quiet"
        place.write(STATUS, f"{board.load()['fan_prefix']}FAN_PROFILE:{profile}\n")
    return place.read(STATUS) or ""

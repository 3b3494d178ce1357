"""Times of the processors in /proc/stat (proc(5)), in clock ticks."""

from __future__ import annotations

import re

from . import ParseError
from .numbers import whole

_CPU = re.compile(r"cpu[0-9]{1,5}\Z")
FEWEST_TIMES = 4  # user, nice, system, idle: what the oldest kernels have
COUNTED = 8  # … iowait, irq, softirq, steal; guests' times are within user and nice


def parse_processor_times(text: str) -> dict[str, dict[str, int]]:
    """{"cpu0": {"busy", "total"}} of every processor that is online; idle, waiting and stolen time is not busy.

    ParseError: no processor, or one that stands twice or has no times.
    """
    found: dict[str, dict[str, int]] = {}
    for line in text.splitlines():
        words = line.split()
        if not words or _CPU.match(words[0]) is None:
            continue
        times = [whole(word, "a processor's time") for word in words[1 : 1 + COUNTED]]
        if len(times) < FEWEST_TIMES or words[0] in found:
            raise ParseError("a processor has no times of its own")
        user, nice, system, _idle = times[:FEWEST_TIMES]
        interrupts = times[5:7] if len(times) >= COUNTED - 1 else []
        found[words[0]] = {"busy": user + nice + system + sum(interrupts), "total": sum(times)}
    if not found:
        raise ParseError("no processor has times")
    return found

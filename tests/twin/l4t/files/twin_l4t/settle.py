"""What the kernel does when a limit of a clock is written: it takes the nearest step and moves the clock inside."""

from __future__ import annotations

from . import conf, place

NO_CAP = (-1, 0)  # 0 only in the EMC's line
INT_MAX = {True: 9223372036854775807, False: 2147483647}  # how newer and older tools print -1


def frequencies(where: str | None) -> list[int]:
    """The steps in a table's file, ascending; none where there is no table."""
    return sorted(int(word) for word in place.word(where).split()) if where else []


def hardware_limits(parameter: conf.Parameter, emc_max_hz: int) -> tuple[list[int], int, int]:
    """(steps, lowest, highest) of a clock: of its table, or of the memory's firmware where it has none."""
    table = frequencies(parameter.paths.get("FREQ_TABLE"))
    if table:
        return table, table[0], table[-1]
    return [], 0, emc_max_hz


def settle(value: int, is_maximum: bool, limits: tuple[list[int], int, int]) -> int:
    """The value that the hardware takes for ``value``: a step of its table, never beyond its ends."""
    table, lowest, highest = limits
    if is_maximum and value in NO_CAP:
        return highest
    value = min(max(value, lowest), highest)
    if not table:
        return value
    if is_maximum:
        return max(step for step in table if step <= value)
    return min(step for step in table if step >= value)


def follow(limit: str) -> None:
    """Move the clock whose limit was written (min_freq, scaling_max_freq, …) between its limits."""
    folder, _, name = limit.rpartition("/")
    prefix, current = ("scaling_", "scaling_cur_freq") if name.startswith("scaling_") else ("", "cur_freq")
    now = place.number(f"{folder}/{current}")
    lowest, highest = (place.number(f"{folder}/{prefix}{end}_freq") for end in ("min", "max"))
    if now is not None and lowest is not None and highest is not None:
        place.write(f"{folder}/{current}", f"{max(min(now, highest), lowest)}\n")

"""Frequencies of /sys/class/devfreq and of cpufreq: numbers in a row."""

from __future__ import annotations

import re

from . import ParseError
from .numbers import whole

LONGEST = 64 * 1024
MOST_STEPS = 256
BLANKS = " \t\r\n"


def parse_available_frequencies(text: str) -> tuple[int, ...]:
    """available_frequencies (Hz; of cpufreq: kHz) -> the steps as they stand. ParseError: none, or not rising."""
    words = re.split(rf"[{BLANKS}]+", text.strip(BLANKS)) if len(text) <= LONGEST else []
    if not 0 < len(words) <= MOST_STEPS:
        raise ParseError("this is no table of frequencies")
    steps = tuple(whole(word, "a frequency") for word in words)
    if any(first >= second for first, second in zip(steps, steps[1:])) or steps[0] == 0:
        raise ParseError("the frequencies do not rise")
    return steps


def parse_frequency(text: str) -> int:
    """One frequency alone in its file (max_freq, cpuinfo_max_freq, max_rate, …), in the file's unit."""
    return whole(text.strip(BLANKS) if len(text) <= LONGEST else "", "the frequency")

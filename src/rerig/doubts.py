"""Every doubt that a result can carry: its code, its weight and what a reader can do about it.

A *doubt* marks a number that may not mean what it seems to; a *fault* means there is no number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

CACHE_RATIO = 0.99  # below: some bytes came from a cache
EXTRA_RATIO = 1.02  # above: somebody else read too, or the device read more than was asked
SHORT_RUN_S = 2.0
# What limits a virtual disk lets a burst through first: 0.1 s of it with qemu, which is 2 % of this.
SHORT_RUN_OF_VIRTUAL_DISK_S = 5.0
DEPTH_TOLERANCE = 0.10
SPREAD_LIMIT = 0.10  # standard deviation over mean, pyperf's and sbc-bench's rule of thumb
FEWEST_REPEATS = 3
COLD_FRACTION = 0.01
FEWEST_SAMPLES_SHARE = 0.8  # of those that were due; with fewer, a peak may have been missed


@dataclass(frozen=True)
class Kind:
    """``fault`` makes a case invalid, otherwise doubtful; ``advice`` is one sentence for the reader."""

    fault: bool
    advice: str


KINDS: dict[str, Kind] = {
    "served_from_cache": Kind(
        False, "Fewer bytes left the device or server than were read: a cache served the rest, so coldness is unproven."
    ),
    "extra_traffic": Kind(
        False,
        "More bytes left the device or server than were read: other traffic or read amplification.",
    ),
    "bytes_not_provable": Kind(
        False, "Nothing on this machine counts the bytes behind this file, so a cache can't be ruled out."
    ),
    "not_cold": Kind(False, "Part of the file was in memory before a read that may use the page cache."),
    "coldness_unknown": Kind(False, "This user can't see whether the file was in memory before a buffered read."),
    "short_run": Kind(
        False,
        "The measurement was so short that its start, or a burst that a virtual disk lets through, weighs in it; use a "
        "larger file, --size or a suite that reads more.",
    ),
    "depth_levels_off": Kind(
        False, "fio did not keep the asked number of reads in flight, so this is a point of a lower depth."
    ),
    "depth_device_off": Kind(
        False,
        "The device saw another number of reads in flight than was asked; if it is fast, the tool is the limit.",
    ),
    "spread_high": Kind(False, "The repeats differ by more than 10 % (standard deviation over mean)."),
    "few_repeats": Kind(False, "Under three repeats: no spread can be stated."),
    "file_changed": Kind(False, "The file changed while it was measured."),
    "read_ahead_off": Kind(False, "The read-ahead in force was not the one that the case asks for."),
    "partial": Kind(
        False,
        "Not every processor and the GPU were under load, so this is no power budget, and it is compared with no "
        "published figure; --gpu-load gives the command that loads the GPU.",
    ),
    "gpu_load_failed": Kind(False, "The command that was to load the GPU could not be started, or ended too soon."),
    "sensors_missing": Kind(False, "This machine has no sensor, or lets this user read none, for some of the figures."),
    "samples_missing": Kind(False, "Samples were lost, so the highest and lowest figures may have been missed."),
    "load_left": Kind(False, "A process of the load is stuck in the kernel; what is measured next may be disturbed."),
    "background_load": Kind(False, "The machine was busy before the run started."),
    "power_mode": Kind(
        False,
        "The board was not shown to be in Super mode with MAXN_SUPER in force, so its clocks may be lower.",
    ),
    "swap_grew": Kind(False, "Swap was used during the run."),
    "state_changed": Kind(False, "The machine, its agent or a mount changed during the run."),
    "stopped_early": Kind(False, "The run was stopped; what was measured before is kept, and it can be resumed."),
    "not_run": Kind(False, "Repeats are missing, since the run was stopped or the target stopped answering."),
    "tool_failed": Kind(True, "The tool ended with an error."),
    "tool_output_unreadable": Kind(True, "The tool's output could not be read; the run directory keeps its raw text."),
    "short_read": Kind(True, "Fewer bytes were read than were asked."),
    "timed_out": Kind(True, "The read did not end within its time limit; the server or disk may hang."),
}


def issue(
    code: str,
    what: str,
    expected: float | str | None = None,
    actual: float | str | None = None,
    repeat: int | None = None,
) -> dict[str, Any]:
    """One issue of a result. ``code`` must be of :data:`KINDS` (KeyError otherwise)."""
    if code not in KINDS:
        raise KeyError(code)  # a typo must not reach a document
    return {"code": code, "what": what, "expected": expected, "actual": actual, "repeat": repeat}


def judge(issues: list[dict[str, Any]], measured: bool = True) -> dict[str, Any]:
    """The validity block: invalid with any fault, doubtful with any doubt, else valid."""
    if not measured:
        verdict = "not_measured"
    elif any(KINDS[found["code"]].fault for found in issues):
        verdict = "invalid"
    else:
        verdict = "doubtful" if issues else "valid"
    return {"verdict": verdict, "issues": issues}

"""Strict readers of what L4T's tools print. A recording and a stand-in must both pass them; any other text must not.

They are no parsers for users: what they don't expect is a :class:`Misshapen`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

POWER_MODE = re.compile(r"NV Power Mode: ([A-Z0-9_]+)")
PARAMETER = re.compile(
    r"NVPM VERB: PARAM (\w+): ARG (\w+): PATH (/sys/\S+): REAL_VAL: (-?\d+|auto|on) CONF_VAL: (-?\d+|auto|on)"
)
ASKED = (
    r"NVPM WARN: Golden image context is already created",
    r"NVPM WARN: Reboot required for changing to this power mode: \d+",
)
QUESTION = r"NVPM WARN: DO YOU WANT TO REBOOT NOW\? enter YES/yes to confirm: ?"
# What nvpmodel says when it changes nothing, or reboots: each as whole lines.
ANSWERS = {
    "declined": (*ASKED, QUESTION, r"NVPM ERROR: optMask is 1, no request for power mode"),
    "eof": (*ASKED, QUESTION, r"NVPM ERROR: bad input!"),
    "forced": (*ASKED, r"Automatically rebooting to reflect the mode change", r"NVPM WARN: rebooting\.\."),
    "unknown": (r"NVPM ERROR: request for bad power mode \d+",),
    "chroot": (r"Running in chroot, ignoring request\.",),
}
RELEASE = re.compile(
    r"# R(\d+) \(release\), REVISION: (\d+)\.(\d+)(?:\.(\d+))?, GCID: (\d+), BOARD: (\w+), EABI: (\w+), DATE: (.+)"
)
DATE = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d UTC \d{4}")
SPEC = re.compile(r"\d{4}-\d{3}-\d{4}-[A-Z]\.\d-[01]-[01]-jetson-[a-z0-9-]+-")
COMPATIBLE_SPEC = re.compile(r"\d{4}-(?:\d{3})?-\d{4}--[01]--jetson-[a-z0-9-]+-")


class Misshapen(Exception):
    """The text is not what the real tool prints."""


class Lines:
    """The lines of a text, taken one by one."""

    def __init__(self, text: str) -> None:
        if not text.endswith("\n"):
            raise Misshapen(f"no newline at the end: {text[-40:]!r}")
        self.left = text.split("\n")[:-1]

    def take(self, pattern: str) -> re.Match[str]:
        line = self.left.pop(0) if self.left else ""
        match = re.fullmatch(pattern, line)
        if match is None:
            raise Misshapen(f"{line!r} is not {pattern!r}")
        return match

    def take_all(self, pattern: str) -> Iterator[re.Match[str]]:
        while self.left and re.fullmatch(pattern, self.left[0]):
            yield self.take(pattern)

    def end(self) -> None:
        if self.left:
            raise Misshapen(f"more than expected: {self.left[0]!r}")


@dataclass(frozen=True)
class Mode:
    name: str
    id: int
    warnings: tuple[str, ...]


def read_mode(text: str) -> Mode:
    """``nvpmodel -q``."""
    lines = Lines(text)
    warnings = tuple(match[1] for match in lines.take_all(r"NVPM WARN: (.+)"))
    mode = Mode(lines.take(POWER_MODE.pattern)[1], int(lines.take(r"\d+")[0]), warnings)
    lines.end()
    return mode


@dataclass(frozen=True)
class Value:
    path: str
    real: str
    conf: str


def read_verbose_mode(text: str) -> tuple[Mode, Mapping[tuple[str, str], Value]]:
    """``nvpmodel -q --verbose``; the values by (parameter, argument), in the order of the configuration."""
    lines = Lines(text)
    conf = lines.take(r"NVPM VERB: Config file: (/\S+)")[1]
    lines.take(f"NVPM VERB: parsing done for {re.escape(conf)}")
    name = lines.take(f"NVPM VERB: Current mode: {POWER_MODE.pattern}")[1]
    mode = Mode(name, int(lines.take(r"\d+")[0]), ())
    values = {(one[1], one[2]): Value(*one.group(3, 4, 5)) for one in lines.take_all(PARAMETER.pattern)}
    lines.end()
    return mode, values


@dataclass(frozen=True)
class Listed:
    default: tuple[str, int]
    parameters: Mapping[str, str]  # name: FILE or CLOCK
    models: Mapping[int, str]
    values: Mapping[tuple[int, str, str], str]


def read_listing(text: str) -> Listed:
    """``nvpmodel -p --verbose``."""
    lines = Lines(text)
    conf = lines.take(r"NVPM VERB: Config file: (/\S+)")[1]
    lines.take(f"NVPM VERB: parsing done for {re.escape(conf)}")
    lines.take(f"succeed to parse file {re.escape(conf)}\\.")
    default = lines.take(r"NVPM VERB: PM_CONFIG: DEFAULT=(\w+)\((\d+)\)")
    parameters, models, values = {}, {}, {}
    for head in lines.take_all(r"NVPM VERB: PARAM TYPE=(FILE|CLOCK) NAME=(\w+)"):
        parameters[head[2]] = head[1]
        if not list(lines.take_all(r"NVPM VERB: (\w+) (/sys/\S+)")):
            raise Misshapen(f"{head[2]} has no path")
    lines.take("NVPM VERB: ")
    for head in lines.take_all(r"NVPM VERB: POWER_MODEL: ID=(\d+) NAME=(\w+)"):
        models[int(head[1])] = head[2]
        for one in lines.take_all(r"NVPM VERB: (\w+) (\w+) (-?\w+)"):
            values[(int(head[1]), one[1], one[2])] = one[3]
        lines.take("NVPM VERB: ")
    lines.end()
    return Listed((default[1], int(default[2])), parameters, models, values)


def read_answer(text: str) -> str:
    """What nvpmodel -m said instead of changing the mode: a key of ANSWERS."""
    for name, patterns in ANSWERS.items():
        found = text.split("\n")[:-1]
        if len(found) == len(patterns) and all(map(re.fullmatch, patterns, found)):
            return name
    raise Misshapen(f"no answer of nvpmodel: {text!r}")


def read_status(text: str) -> tuple[int, str | None]:
    """/var/lib/nvpmodel/status."""
    match = re.fullmatch(r"pmode:(\d{4})(?: fmode:(fan_mode_\w+))?\n", text)
    if match is None:
        raise Misshapen(repr(text))
    return int(match[1]), match[2]


def read_boot_control(text: str) -> Mapping[str, str]:
    """/etc/nv_boot_control.conf."""
    found = dict(match.group(1, 2) for match in Lines(text).take_all(r"([A-Z_]+) (\S+)"))
    if len(found) != text.count("\n") or "TNSPEC" not in found:
        raise Misshapen(text)
    for name, pattern in (("TNSPEC", SPEC), ("COMPATIBLE_SPEC", COMPATIBLE_SPEC)):
        if not pattern.fullmatch(found[name]):
            raise Misshapen(found[name])
    return found


@dataclass(frozen=True)
class Slots:
    version: str
    capsule_status: int
    current: str
    active: str
    status: tuple[str, ...]


def read_slots(text: str) -> Slots:
    """``nvbootctrl dump-slots-info``."""
    lines = Lines(text)
    version = lines.take(r"Current version: (\d+\.\d+\.\d+)")[1]
    capsule_status = int(lines.take(r"Capsule update status: ([0-3])")[1])
    current = lines.take(r"Current bootloader slot: ([AB])")[1]
    active = lines.take(r"Active bootloader slot: ([AB])")[1]
    count = int(lines.take(r"num_slots: (\d)")[1])
    status = tuple(lines.take(rf"slot: {number}, {{13}}status: (\w+)")[1] for number in range(count))
    lines.end()
    return Slots(version, capsule_status, current, active, status)


def read_release(line: str) -> tuple[int, int, int]:
    """The first line of /etc/nv_tegra_release: R36, REVISION 4.7 is (36, 4, 7)."""
    match = RELEASE.fullmatch(line)
    if match is None or not DATE.fullmatch(match[8]):
        raise Misshapen(repr(line))
    return int(match[1]), int(match[2]), int(match[3])


@dataclass(frozen=True)
class Clock:
    lowest: int
    highest: int
    now: int


@dataclass(frozen=True)
class Clocks:
    machine: str
    online: str
    cores: tuple[Clock, ...]
    gpu: Clock
    clusters: int
    memory: Clock
    override: bool
    mode: str


def read_clocks(text: str) -> Clocks:
    """``jetson_clocks --show``."""
    three = r"MinFreq=(\d+) MaxFreq=(\d+) CurrentFreq=(\d+)"
    lines = Lines(text)
    machine = lines.take(r"SOC family:tegra\d{3}  Machine:(\S.*\S)")[1]
    online = lines.take(r"Online CPUs: ([\d,-]+)")[1]
    found = list(lines.take_all(rf"cpu(\d+):  Online=[01] Governor=(\w+) {three} IdleStates:(?: \w+=[01])+ ?"))
    if [int(one[1]) for one in found] != list(range(len(found))):
        raise Misshapen("cores are missing")
    cores = tuple(Clock(*map(int, one.group(3, 4, 5))) for one in found)
    gpu = Clock(*map(int, lines.take(f"GPU {three}").groups()))
    clusters = int(lines.take(r"Active GPU TPCs: (\d)")[1])
    memory = lines.take(rf"EMC {three} FreqOverride=([01])")
    lines.take(r"FAN Dynamic Speed Control=\w+ hwmon\d_pwm1=\d{1,3}")
    mode = lines.take(POWER_MODE.pattern)[1]
    lines.end()
    clock = Clock(*map(int, memory.group(1, 2, 3)))
    return Clocks(machine, online, cores, gpu, clusters, clock, memory[4] == "1", mode)


def read_fan(text: str) -> str:
    """The profile of ``nvfancontrol -q``."""
    return Lines(text).take(r"(?:FAN1:)?FAN_PROFILE:(quiet|cool)")[1]

"""Small files of /proc, and /etc/os-release. Sizes come out in bytes, times in the unit of the key's name."""

from __future__ import annotations

import re
from typing import Any

from . import ParseError
from .mountinfo import unescape
from .numbers import MAX_DIGITS, decimal, is_whole, signed, whole

NET_FIELDS = (
    "rx_bytes",
    "rx_packets",
    "rx_errors",
    "rx_dropped",
    "rx_fifo",
    "rx_frame",
    "rx_compressed",
    "rx_multicast",
    "tx_bytes",
    "tx_packets",
    "tx_errors",
    "tx_dropped",
    "tx_fifo",
    "tx_collisions",
    "tx_carrier",
    "tx_compressed",
)
_IO_LINE = re.compile(rf"([a-z_]{{1,40}}):\s*([0-9]{{1,{MAX_DIGITS}}})\s*\Z")
_MEMORY_LINE = re.compile(rf"([^\s:]{{1,60}}):\s*([0-9]{{1,{MAX_DIGITS}}}) kB\s*\Z")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]{0,60})=(.*)\Z", re.DOTALL)
_SHELL_ESCAPE = re.compile(r"\\([\"\\$`'])")


def parse_process_io(text: str) -> dict[str, int]:
    """/proc/PID/io -> {"rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes"}.

    A kernel without task I/O accounting prints only some of them. ParseError: none at all.
    """
    values = {}
    for line in text.split("\n"):
        match = _IO_LINE.match(line)
        if match:
            values[match.group(1)] = int(match.group(2))
    if not values:
        raise ParseError("this is no /proc/PID/io: it holds no counter")
    return values


def parse_net_dev(text: str) -> dict[str, dict[str, int]]:
    """/proc/net/dev -> {interface: {"rx_bytes", "rx_packets", … "tx_bytes", …}} with every name of NET_FIELDS."""
    interfaces = {}
    for line in text.split("\n"):
        # A name may hold a colon (an alias); old kernels glue the first number to it.
        name, colon, counters = line.rpartition(":")
        words = counters.split()
        if colon and name.strip() and len(words) >= len(NET_FIELDS):
            interfaces[name.strip()] = {key: whole(word, key) for key, word in zip(NET_FIELDS, words)}
    if not interfaces:
        raise ParseError("this is no /proc/net/dev: it holds no interface")
    return interfaces


def parse_meminfo(text: str) -> dict[str, int]:
    """/proc/meminfo -> {key: bytes}. The few lines that count pages instead ("HugePages_Total") are left out."""
    values = {}
    for line in text.split("\n"):
        match = _MEMORY_LINE.match(line)
        if match:
            values[match.group(1)] = int(match.group(2)) * 1024
    if not values:
        raise ParseError("this is no /proc/meminfo: it holds no size in kB")
    return values


def parse_loadavg(text: str) -> dict[str, Any]:
    """/proc/loadavg -> {"load_1m", "load_5m", "load_15m": float, "running", "total": int, tasks that run and exist}."""
    words = text.split()
    if len(words) < 4:
        raise ParseError("this is no /proc/loadavg: it has fewer than four fields")
    running, _, total = words[3].partition("/")
    return {
        "load_1m": decimal(words[0], "the load of one minute"),
        "load_5m": decimal(words[1], "the load of five minutes"),
        "load_15m": decimal(words[2], "the load of fifteen minutes"),
        "running": whole(running, "the number of running tasks"),
        "total": whole(total, "the number of tasks"),
    }


def parse_os_release(text: str) -> dict[str, str]:
    """/etc/os-release -> {key: value} without the shell's quotes (os-release(5)); of a repeated key the last counts."""
    values = {}
    for line in text.split("\n"):
        match = _ASSIGNMENT.match(line.strip())
        if match:
            values[match.group(1)] = _unquoted(match.group(2).strip())
    if not values:
        raise ParseError("this is no os-release: it holds no KEY=value")
    return values


def parse_cpuinfo(text: str) -> dict[str, Any]:
    """/proc/cpuinfo -> {"model": str | None, "cores": int, "arm_part": "0x41/0xd42" | None}.

    ``cores`` counts logical processors. 64-bit Arm kernels print no model name, only numbers of the implementer and the
    part ("arm_part"; of the first processor). Serial numbers, which some boards print, are never returned.
    """
    cores = 0
    found: dict[str, str] = {}
    for line in text.split("\n"):
        key, colon, value = line.partition(":")
        key, value = key.strip(), value.strip()
        if not colon:
            continue
        number = value if key == "processor" else key.partition("processor ")[2]  # s390: "processor 0: version = …"
        if is_whole(number):
            cores += 1
        elif value:
            found.setdefault(key, value)
    if not cores:
        raise ParseError("this is no /proc/cpuinfo: it lists no processor")
    # x86 and 32-bit Arm, then MIPS, then POWER ("cpu") and old 32-bit Arm ("Processor").
    model = next((found[key] for key in ("model name", "cpu model", "cpu", "Processor") if key in found), None)
    implementer, part = found.get("CPU implementer"), found.get("CPU part")
    return {"model": model, "cores": cores, "arm_part": f"{implementer}/{part}" if implementer and part else None}


def parse_pressure(text: str) -> dict[str, dict[str, Any] | None]:
    """/proc/pressure/* -> {"some": {"avg10", "avg60", "avg300": percent, "total_us": int}, "full": the same | None}."""
    lines: dict[str, dict[str, Any] | None] = {"some": None, "full": None}
    for line in text.split("\n"):
        words = line.split()
        if words and words[0] in lines:
            fields = dict(word.partition("=")[::2] for word in words[1:])
            reading: dict[str, Any] = {
                key: decimal(fields.get(key, ""), f"the pressure {key}") for key in ("avg10", "avg60", "avg300")
            }
            reading["total_us"] = whole(fields.get("total", ""), "the total stall time")
            lines[words[0]] = reading
    if lines["some"] is None:
        raise ParseError("this is no pressure file: it has no line 'some'")
    return lines


def parse_swaps(text: str) -> list[dict[str, Any]]:
    """/proc/swaps -> [{"name": path, "type": "partition" | "file" | …, "size_bytes", "used_bytes", "priority"}]."""
    lines = [line.split() for line in text.split("\n") if line.strip()]
    if not lines or lines[0][0] != "Filename":
        raise ParseError("this is no /proc/swaps: its first line is not the header")
    swaps = []
    for words in lines[1:]:
        if len(words) != 5:
            raise ParseError("a line of swaps has not five fields")
        swaps.append(
            {
                "name": unescape(words[0]),
                "type": words[1],
                "size_bytes": whole(words[2], "a swap's size") * 1024,
                "used_bytes": whole(words[3], "a swap's use") * 1024,
                "priority": signed(words[4], "a swap's priority"),
            }
        )
    return swaps


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    if len(value) >= 2 and value[0] == value[-1] == '"':
        value = value[1:-1]
    return _SHELL_ESCAPE.sub(r"\1", value)

"""/proc/self/mountstats: what each NFS mount has asked of its server, and how long the answers took.

Layout: the kernel's fs/nfs/super.c (nfs_show_stats), include/linux/nfs_iostat.h and net/sunrpc/stats.c. Counters are
cumulative since the mount; a local file system has only its first line.
"""

from __future__ import annotations

from typing import Any

from . import ParseError
from .mount_options import split_options
from .mountinfo import unescape
from .numbers import is_whole, signed, whole

BYTE_FIELDS = (
    "normal_read",
    "normal_write",
    "direct_read",
    "direct_write",
    "server_read",
    "server_write",
    "read_pages",
    "write_pages",
)
OPERATION_FIELDS = (
    "ops",
    "transmissions",
    "timeouts",
    "bytes_sent",
    "bytes_received",
    "queue_ms",
    "rtt_ms",
    "execute_ms",
    "errors",
)
# The first numbers of an xprt line; the kernel's net/sunrpc/xprtsock.c and xprtrdma/transport.c.
_STREAM_FIELDS = (
    "port",
    "binds",
    "connects",
    "connect_time_s",
    "idle_time_s",
    "sends",
    "receives",
    "bad_transaction_ids",
    "requests_in_flight_sum",
    "backlog_sum",
)
_TRANSPORT_FIELDS = {
    "tcp": _STREAM_FIELDS,
    "rdma": _STREAM_FIELDS,
    "local": _STREAM_FIELDS[1:],
    "udp": ("port", "binds", "sends", "receives", "bad_transaction_ids", "requests_in_flight_sum", "backlog_sum"),
}
_OPERATIONS_HEAD = "per-op statistics"


def parse_mountstats(text: str) -> list[dict[str, Any]]:
    """Every mount; those of NFS with their counters.

    {"device", "mount_point", "fs_type", "statvers": "1.1" | None}, and where there is a statvers also {"options":
    [str], "age_s", "bytes": as parse_bytes_line | None, "operations": {"READ": {"ops", "transmissions", "timeouts",
    "bytes_sent", "bytes_received", "queue_ms", "rtt_ms", "execute_ms", "errors": int | None before Linux 5.3}},
    "transport": [{"protocol", "port", "binds", …, "values": [int], all numbers of the line}], one for a connection}.
    A sum of milliseconds that the kernel let sink below zero is negative, not huge. ParseError: no device, or a line
    that should hold numbers and doesn't.
    """
    devices: list[dict[str, Any]] = []
    in_operations = False
    for line in text.split("\n"):
        head = _device(line)
        if head is not None:
            devices.append(head)
            in_operations = False
        elif devices and devices[-1]["statvers"] is not None:
            label, colon, rest = line.strip().partition(":")
            if label == _OPERATIONS_HEAD:
                in_operations = True
            elif in_operations and colon:
                devices[-1]["operations"][label] = _operation(label, rest.split())
            elif colon:
                _add_line(devices[-1], label, rest.strip())
    if not devices:
        raise ParseError("mountstats names no device")
    return devices


def split_mountstats(text: str) -> dict[str, str]:
    """{mount point: its block's text, from the "device" line to the next}. Of two on one place the last counts."""
    blocks: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.split("\n"):
        head = _device(line)
        if head is not None:
            current = blocks[head["mount_point"]] = []
        if current is not None:
            current.append(line)
    if not blocks:
        raise ParseError("mountstats names no device")
    return {place: "\n".join(lines).rstrip("\n") + "\n" for place, lines in blocks.items()}


def parse_bytes_line(line: str) -> dict[str, int]:
    """The line "bytes: …" -> {"normal_read", "normal_write", "direct_read", "direct_write", "server_read",
    "server_write": bytes, "read_pages", "write_pages": pages}."""
    label, _, numbers = line.strip().partition(":")
    words = numbers.split()
    if label != "bytes" or len(words) < len(BYTE_FIELDS):
        raise ParseError("the line 'bytes:' of mountstats has fewer than eight numbers")
    return {name: whole(word, f"the byte counter {name}") for name, word in zip(BYTE_FIELDS, words)}


def _device(line: str) -> dict[str, Any] | None:
    """The first line of a block: "device D mounted on P with fstype T statvers=V"; "no device mounted on …"."""
    # Only such a line begins without a blank.
    if not line.startswith(("device ", "no device ")):
        return None
    device, mounted, rest = line.partition(" mounted on ")
    place, kind, words = rest.rpartition(" with fstype ")
    fs_type, *more = words.split() or [""]
    if not (mounted and kind and fs_type):
        return None
    version = next((word[len("statvers=") :] for word in more if word.startswith("statvers=")), None)
    head: dict[str, Any] = {
        "device": None if device == "no device" else unescape(device[len("device ") :]),
        "mount_point": unescape(place),
        "fs_type": fs_type,
        "statvers": version,
    }
    if version is not None:
        head.update({"options": [], "age_s": None, "bytes": None, "operations": {}, "transport": []})
    return head


def _add_line(device: dict[str, Any], label: str, rest: str) -> None:
    if label == "opts":
        device["options"] = [unescape(option) for option in split_options(rest)]
    elif label == "age":
        device["age_s"] = whole(rest, "the age of a mount")
    elif label == "bytes":
        device["bytes"] = parse_bytes_line(f"{label}:{rest}")
    elif label == "xprt":
        device["transport"].append(_transport(rest.split()))


def _operation(name: str, words: list[str]) -> dict[str, Any]:
    if len(words) < len(OPERATION_FIELDS) - 1:
        raise ParseError(f"the operation {name} of mountstats has fewer than eight numbers")
    counters: dict[str, Any] = dict.fromkeys(OPERATION_FIELDS)
    for field, word in zip(OPERATION_FIELDS, words):
        value = signed(word, f"the counter {field} of {name}")
        # Sums of signed nanoseconds, printed as unsigned 64-bit milliseconds.
        counters[field] = value - (1 << 64) if field.endswith("_ms") and 1 << 63 <= value < 1 << 64 else value
    return counters


def _transport(words: list[str]) -> dict[str, Any]:
    if not words:
        raise ParseError("a transport of mountstats has no name")
    values = [int(word) for word in words[1:] if is_whole(word)]
    return {"protocol": words[0], **dict(zip(_TRANSPORT_FIELDS.get(words[0], ()), values)), "values": values}

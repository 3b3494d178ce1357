"""Whether two results tell the same: everything in both documents, apart from what is listed here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# What every run has of its own: the value may differ, its kind (text, number, null) may not. * is each item of a list.
OF_THE_MOMENT = {
    "run.id",
    "run.started_at",
    "run.finished_at",
    *(
        f"machine.{when}.{name}"
        for when in ("before", "after")
        for name in (
            "memory_available_bytes",
            "swap_used_bytes",
            "load_1m",
            "load_5m",
            "load_15m",
            "io_pressure_avg10",
            "memory_pressure_avg10",
            "cpu_khz_lowest",
            "cpu_khz_highest",
            "temperature_highest_c",
            "uptime_s",
        )
    ),
    *(
        f"cases.*.repeats.*.{name}"
        for name in (
            "started_at",
            "duration_s",
            "bandwidth_bytes_per_s",
            "wall_s",
            "seed",
            "proof.delivered_bytes",
            "proof.ratio",
            "process_read_bytes",
            "resident_before",
            "resident_after",
            "fio.iops",
            "fio.latency_mean_s",
            "fio.depth_by_levels",
            "fio.share_at_depth",
            "fio.depth_by_device",
            "fio.device_requests_per_io",
            *(f"raw.{role}.sha256" for role in ("record", "stdout", "stderr", "fio")),
        )
    ),
}
# Told by :func:`sessions`, with the names of the run's own files.
OF_THE_SESSIONS = {"run.sessions", "raw.files"}
# Other programs read from the same disk: that bytes were counted is the same, their number is not.
COUNTED = ("delivered", "extra_traffic")
# Doubts that a busy or a slow disk raises.
OF_THE_DISK = {
    "extra_traffic",
    "short_run",
    "depth_levels_off",
    "depth_device_off",
    "spread_high",
    "background_load",
    "swap_grew",
}
_OWN_FILE = re.compile(r"(plan|journal|targets|conditions-before|conditions-after)(?:-[0-9]+)?(\.jsonl?)")
_UNFINISHED = re.compile(r"unfinished/[0-9]+/([^/]+)/")


def timeless(document: dict[str, Any]) -> dict[str, Any]:
    """A result without what only its moment decided; two of the same plan and machine are equal."""
    plain: dict[str, Any] = _timeless(document, "")
    names = {_OWN_FILE.sub(r"\1\2", name) for name in _own_names(document) if not _UNFINISHED.match(name)}
    return {**plain, "raw": {**plain["raw"], "files": sorted(names)}}


def assert_same(document: dict[str, Any], undisturbed: dict[str, Any]) -> None:
    """Both tell the same; otherwise the failure names each place where they differ."""
    found = list(_differences(timeless(document), timeless(undisturbed), ""))
    assert not found, "\n".join(found)


def sessions(document: dict[str, Any]) -> list[str | None]:
    """What stopped each session; their numbers, and the gaps between them, are as they must be."""
    blocks = document["run"]["sessions"]
    assert [block["number"] for block in blocks] == list(range(1, len(blocks) + 1))
    assert blocks[0]["gap_before_s"] is None
    for block in blocks[1:]:
        assert block["gap_before_s"] >= 0
    assert document["run"]["started_at"] == blocks[0]["started_at"]
    assert document["run"]["finished_at"] == blocks[-1]["ended_at"]
    assert document["run"]["stopped_by"] == blocks[-1]["stopped_by"]
    moments = [block["started_at"] for block in blocks]
    assert moments == sorted(moments)
    return [block["stopped_by"] for block in blocks]


def unfinished(document: dict[str, Any]) -> set[str]:
    """The cases of which a session left measurements that count for nothing."""
    return {found[1] for name in _own_names(document) if (found := _UNFINISHED.match(name))}


def without_doubts(document: dict[str, Any], code: str) -> tuple[dict[str, Any], list[str]]:
    """The document without the run's own doubts of one code, and their words."""
    issues = document["validity"]["issues"]
    rest = [found for found in issues if found["code"] != code]
    words = [found["what"] for found in issues if found["code"] == code]
    return {**document, "validity": {**document["validity"], "issues": rest}}, words


def _differences(one: Any, other: Any, path: str) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key, below in one.items():
            yield from _differences(below, other[key], f"{path}.{key}" if path else key)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, below in enumerate(one):
            yield from _differences(below, other[number], f"{path}.{number}")
    elif type(one) is not type(other) or one != other:
        yield f"{path}: {one!r} instead of {other!r}"


def _own_names(document: dict[str, Any]) -> list[str]:
    return [file["name"] for file in document["raw"]["files"]]


def _timeless(value: Any, path: str) -> Any:
    if path in OF_THE_SESSIONS:
        return None
    if path in OF_THE_MOMENT:
        return "number" if isinstance(value, int | float) else type(value).__name__
    if path == "cases.*.repeats.*.proof.verdict":
        return "counted" if value in COUNTED else value
    if path.endswith("validity.issues"):
        return [issue for issue in value if issue["code"] not in OF_THE_DISK]
    if isinstance(value, dict):
        return {key: _timeless(below, f"{path}.{key}" if path else key) for key, below in value.items()}
    if isinstance(value, list):
        return [_timeless(below, f"{path}.*") for below in value]
    return value

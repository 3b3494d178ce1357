"""Byte counters of the devices and the server under one target, as raw text: parsed later, by whoever needs them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from .facts.sysfs import absolute, read_text
from .judge.known_evidence import KnownEvidence, read_evidence
from .judge.public_devices import device_aliases
from .parse import ParseError
from .parse.mountstats import split_mountstats

__all__ = ["take"]


def take(classified: dict[str, Any], evidence: dict[str, Any], root: Path = Path("/")) -> dict[str, Any]:
    """A snapshot {"monotonic_s", "block": {name: text of its stat file}, "mountstats": text | None, "net_dev": …}.

    `block` holds the whole chain under the names of `classified["count_devices"]`; `mountstats` the block of the NFS
    mount that keeps the file, `net_dev` all interfaces, where the medium is a network. None of these reads can hang.
    """
    known = read_evidence(evidence)
    snapshot: dict[str, Any] = {"monotonic_s": time.monotonic(), "block": {}, "mountstats": None, "net_dev": None}
    for name, alias in device_aliases(known.chain).items():
        text = read_text(absolute(root, "/sys/class/block") / name / "stat")
        if text is not None:
            snapshot["block"][alias] = text
    if classified.get("proof", {}).get("source") == "nfs":
        snapshot["mountstats"] = _mountstats(known, evidence, root)
    if classified.get("medium") == "network":
        snapshot["net_dev"] = read_text(absolute(root, "/proc/net/dev"))
    return snapshot


def _mountstats(known: KnownEvidence, evidence: dict[str, Any], root: Path) -> str | None:
    mounts = [evidence.get("mount"), *(evidence.get("data_mounts") or [])]
    if not known.mounts_read or not isinstance(mounts[-1], dict):
        return None
    try:
        blocks = split_mountstats(read_text(absolute(root, "/proc/self/mountstats")) or "")
    except ParseError:
        return None
    block: str | None = blocks.get(mounts[-1].get("mount_point", ""))
    return block

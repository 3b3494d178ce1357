"""What the tables print of a case: its name in words, its mean with the span of the repeats, its marks."""

from __future__ import annotations

import statistics
from typing import Any

from rerig.sizes import format_bytes, format_rate
from rerig_agent.plan_format import MACHINE, POWER_BUDGET

STORAGE_WORDS = {
    "local_disk": "local disk",
    "vm_disk": "VM disk",
    "loop": "loop device",
    "nfs": "NFS",
    "smb": "SMB",
    "iscsi": "iSCSI",
    "fuse": "FUSE",
    "9p": "9p",
    "virtiofs": "virtiofs",
    "other": "other storage",
}
UNSEEN_WORDS = {
    "hypervisor_host": "the hypervisor's host cache",
    "host_share": "the host's cache behind the share",
    "nas_ram": "the NAS's RAM",
    "drive_dram": "the drive's own DRAM",
    "fuse_daemon": "the FUSE daemon's cache",
}


def case_name(*cases: dict[str, Any]) -> str:
    """A case in words, e.g. ``random 64 KiB, QD4 (fio, io_uring)``; of several targets' cases, all their sizes."""
    identity = cases[0]["identity"]
    if identity["kind"] == POWER_BUDGET:
        return f"{identity['load_s']} s of load on every processor{' and the GPU' if identity['gpu'] else ''}"
    block = format_bytes(identity["block_bytes"])
    cache = "" if identity["direct"] else ", page cache allowed"
    if identity["evict"]:
        cache += ", evicted first"
    if "read_ahead_kb" in identity:
        cache += f", read-ahead {identity['read_ahead_kb']:,} KiB"
    if identity["kind"] == "fio_read":
        depth = f"QD{identity['queue_depth']}"
        return f"{identity['pattern']} {block}, {depth} (fio, {identity['engine']}{cache})"
    amount = " / ".join(dict.fromkeys(format_bytes(case["identity"]["read_bytes"]) for case in cases))
    if identity["kind"] == "dd_reread":
        return f"the same {amount} again and again (dd, {block}{cache})"
    return f"sequential {amount} (dd, {block}{cache})"


def rates(case: dict[str, Any]) -> list[float]:
    """Bytes a second of every repeat that has a figure."""
    return [
        repeat["bandwidth_bytes_per_s"] for repeat in case["repeats"] if repeat["bandwidth_bytes_per_s"] is not None
    ]


def rate_text(case: dict[str, Any]) -> str:
    """Mean of the repeats' rates and their span, or why there is none."""
    found = rates(case)
    if not found:
        return str(case["status"]).replace("_", " ")
    text = format_rate(statistics.fmean(found))
    if len(found) > 1:
        low, high = (format_rate(value).removesuffix(" MB/s") for value in (min(found), max(found)))
        text += f" ({low}–{high})"
    return text


def mean_rate(case: dict[str, Any]) -> float | None:
    """Mean bytes a second of the repeats, the figure that the posts print too."""
    found = rates(case)
    return statistics.fmean(found) if found else None


def target_text(target: dict[str, Any]) -> str:
    """One line about a target: what it is on and which caches nobody can see from here."""
    if "refusal" in target:
        return f"{target['id']}  {target['label']}: not measured, {target['refusal']['sentence']}"
    if target["origin"] == MACHINE:
        return f"{target['id']}  {target['label']}"
    words = STORAGE_WORDS.get(target["storage_class"], target["storage_class"])
    text = f"{target['id']}  {target['label']}: {format_bytes(target['size_bytes'])} on {words}"
    text += f" ({target['file_system']['type']})"
    unseen = [UNSEEN_WORDS.get(code, code) for code in target["unseen_caches"]]
    if unseen:
        text += f"; can't be seen from here: {', '.join(unseen)}"
    return text

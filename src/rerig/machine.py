"""What changed or was busy on the machine around a run: doubts about the run as a whole. Pure."""

from __future__ import annotations

from typing import Any

from rerig.doubts import issue

BUSY_SHARE = 0.5  # load average per core above which a machine is called busy
SWAP_GROWTH_BYTES = 64 * 1024 * 1024

# Summary fields that must be the same before and after a run, with the words for each.
STEADY = {
    "kernel_release": "the kernel",
    "governors": "the CPU frequency governor",
    "board_model": "the board",
}


def machine_issues(
    evidence_before: dict[str, Any] | None,
    evidence_after: dict[str, Any] | None,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
) -> list[dict[str, Any]]:
    """Issues from the raw evidence (for the boot id, which is never published) and from its summaries."""
    issues: list[dict[str, Any]] = []
    if before is None:
        return issues
    load, cores = before.get("load_1m"), before.get("cores")
    if load is not None and cores and load > BUSY_SHARE * cores:
        what = f"the load average was {load} on {cores} cores before the run"
        issues.append(issue("background_load", what, BUSY_SHARE * cores, load))
    if evidence_before is None or evidence_after is None or after is None:
        return issues
    if evidence_before.get("boot_id") != evidence_after.get("boot_id"):
        issues.append(issue("state_changed", "the machine was rebooted during the run"))
    for key, words in STEADY.items():
        if before.get(key) != after.get(key):
            issues.append(
                issue("state_changed", f"{words} changed during the run", str(before.get(key)), str(after.get(key)))
            )
    swap_before, swap_after = before.get("swap_used_bytes"), after.get("swap_used_bytes")
    if swap_before is not None and swap_after is not None and swap_after - swap_before > SWAP_GROWTH_BYTES:
        issues.append(issue("swap_grew", "swap was used during the run", swap_before, swap_after))
    return issues

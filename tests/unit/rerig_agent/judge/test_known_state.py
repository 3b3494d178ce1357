"""Links of NVMe drives: a drive in a narrower slot is no fault, a link below what both could do is one."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import pytest

from rerig_agent.judge.known_state import judge_links

Pair = Optional[Tuple[str, str]]


def readings(now: Pair, most: Pair) -> dict[str, Any]:
    files = {"current": now, "max": most}
    return {
        f"{which}_link_{what}": {"error": "missing"} if pair is None else {"text": f"{pair[number]}\n"}
        for which, pair in files.items()
        for number, what in enumerate(("speed", "width"))
    }


def judged(now: Pair, most: Pair, slot: Pair) -> dict[str, Any]:
    link = {**readings(now, most), "port": readings(now, slot)}
    (found,) = judge_links({"known_state": {"nvme_links": {"nvme0": link}}})
    return found


GEN3, GEN4, GEN1 = "8.0 GT/s PCIe", "16.0 GT/s PCIe", "2.5 GT/s PCIe"


@pytest.mark.parametrize(
    ("now", "most", "slot", "state"),
    [
        ((GEN3, "4"), (GEN3, "4"), (GEN3, "4"), "ok"),
        ((GEN3, "4"), (GEN4, "4"), (GEN3, "4"), "narrower_slot"),
        ((GEN3, "2"), (GEN3, "4"), (GEN3, "2"), "narrower_slot"),
        ((GEN3, "2"), (GEN3, "4"), (GEN3, "4"), "downgraded"),
        ((GEN1, "4"), (GEN3, "4"), (GEN3, "4"), "downgraded"),
        ((GEN3, "4"), (GEN3, "4"), None, "ok"),
        ((GEN3, "2"), (GEN3, "4"), None, "unknown"),
        ((GEN3, "2"), (GEN3, "4"), (GEN1, "1"), "unknown"),
        (None, (GEN3, "4"), (GEN3, "4"), "unknown"),
        (("Unknown", "4"), (GEN3, "4"), (GEN3, "4"), "unknown"),
    ],
)
def test_a_link_is_judged_by_what_drive_and_slot_can_do(now: Pair, most: Pair, slot: Pair, state: str) -> None:
    assert judged(now, most, slot)["state"] == state


@pytest.mark.parametrize(
    "evidence", [{}, {"known_state": None}, {"known_state": {"nvme_links": {"nvme0": None, "x": 3}}}]
)
def test_evidence_without_links_gives_no_fault(evidence: Any) -> None:
    assert {link["state"] for link in judge_links(evidence)} <= {"unknown"}


def test_a_narrower_slot_is_told_as_no_fault() -> None:
    found = judged((GEN3, "2"), (GEN4, "4"), (GEN3, "2"))
    assert found["text"] == "nvme0 is linked at PCIe 3 x2, all that its slot can do (the drive can do PCIe 4 x4)."

"""NVMe drives: as fast a link as drive and slot can have. A fast drive in a narrow slot is no fault."""

from __future__ import annotations

from rerig.verify_checks import Check, Look


def test_nvme_links(look: Look, check: Check) -> None:
    check.what = "NVMe links"
    slow = [link["text"] for link in look.links if link["state"] == "downgraded"]
    shown = "\n".join(link["text"] for link in look.links) or "no NVMe drive"
    for link in look.links:
        if link["state"] == "unknown":
            check.warn(link["text"])
    check.compare(shown, "all that drive and slot can do", not slow, " ".join(slow))

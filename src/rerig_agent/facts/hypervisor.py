"""The signs of a virtual machine, as the kernel and the firmware give them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .sysfs import absolute, read_text, read_word

__all__ = ["collect_hypervisor"]


def collect_hypervisor(root: Path) -> dict[str, Any]:
    """Raw signs: cpu_flag (None where the processor has no such flag: Arm), dmi_vendor, dmi_product, device_tree
    (compatible strings of the board and of its hypervisor node), type (Xen's /sys/hypervisor), xen_control (dom0)."""
    cpuinfo = read_text(absolute(root, "/proc/cpuinfo")) or ""
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    dmi = absolute(root, "/sys/class/dmi/id")
    tree = absolute(root, "/proc/device-tree")
    compatible = (read_text(tree / "compatible") or "") + (read_text(tree / "hypervisor/compatible") or "")
    return {
        "cpu_flag": None if flags is None else "hypervisor" in flags.group(1).split(),
        "dmi_vendor": read_word(dmi / "sys_vendor"),
        "dmi_product": read_word(dmi / "product_name"),
        "device_tree": " ".join(compatible.split("\0")).strip() or None,
        "type": read_word(absolute(root, "/sys/hypervisor/type")),
        "xen_control": "control_d" in (read_text(absolute(root, "/proc/xen/capabilities")) or ""),
    }

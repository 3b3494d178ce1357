"""Is this a virtual machine? Then a disk's reads may come from the host's memory, unseen from inside."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["hypervisor_kind", "is_virtual_machine"]

# Vendor (or product) strings that only virtual machines carry. Microsoft also makes laptops, Amazon and Google also
# rent bare metal: these need the processor's flag, or their product name.
_DMI_KINDS = (
    ("kvm", r"\b(QEMU|KVM|Standard PC|RHEV|oVirt|OpenStack|Red Hat|Proxmox)\b"),
    ("vmware", r"VMware"),
    ("virtualbox", r"innotek|VirtualBox"),
    ("xen", r"\bXen\b|HVM domU"),
    ("hyperv", r"Virtual Machine"),
    ("parallels", r"Parallels"),
    ("bhyve", r"BHYVE"),
    ("google", r"Google Compute Engine"),
    ("cloud", r"DigitalOcean|Hetzner vServer|Alibaba Cloud|OpenNebula|Nutanix AHV|Apple Virtualization"),
)
_DEVICE_TREE_KINDS = (("kvm", r"linux,kvm|linux,dummy-virt"), ("xen", r"xen,"), ("vmware", r"vmware"))


def is_virtual_machine(signs: dict[str, Any]) -> bool:
    """Whether any of the signs of :func:`rerig_agent.facts.hypervisor.collect_hypervisor` says so.

    Xen's control domain is none: it owns the real disks.
    """
    if signs.get("xen_control"):
        return False
    return bool(signs.get("cpu_flag")) or hypervisor_kind(signs) is not None


def hypervisor_kind(signs: dict[str, Any]) -> str | None:
    """A word from a short list ("kvm", "vmware", …), or None where the signs name none."""
    if signs.get("xen_control"):
        return None
    if signs.get("type") == "xen":
        return "xen"
    dmi = "{} {}".format(signs.get("dmi_vendor") or "", signs.get("dmi_product") or "")
    tree = str(signs.get("device_tree") or "")
    for kinds, text in ((_DMI_KINDS, dmi), (_DEVICE_TREE_KINDS, tree)):
        for kind, pattern in kinds:
            if re.search(pattern, text):
                return kind
    return None

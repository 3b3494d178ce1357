from __future__ import annotations

import pytest

from fake_machine import FakeMachine
from rerig_agent.facts.hypervisor import collect_hypervisor
from rerig_agent.judge.virtual_machine import hypervisor_kind, is_virtual_machine


@pytest.mark.parametrize(
    ("files", "virtual", "kind"),
    [
        ({}, False, None),
        ({"/proc/cpuinfo": "flags\t: fpu hypervisor\n"}, True, None),
        ({"/proc/cpuinfo": "flags\t: fpu nohypervisor_x\nmodel name\t: hypervisor\n"}, False, None),
        ({"/sys/class/dmi/id/sys_vendor": "QEMU\n"}, True, "kvm"),
        ({"/sys/class/dmi/id/product_name": "Standard PC (Q35 + ICH9, 2009)\n"}, True, "kvm"),
        ({"/sys/class/dmi/id/sys_vendor": "VMware, Inc.\n"}, True, "vmware"),
        ({"/sys/class/dmi/id/sys_vendor": "innotek GmbH\n"}, True, "virtualbox"),
        (
            {
                "/sys/class/dmi/id/sys_vendor": "Microsoft Corporation\n",
                "/sys/class/dmi/id/product_name": "Virtual Machine\n",
            },
            True,
            "hyperv",
        ),
        (
            {
                "/sys/class/dmi/id/sys_vendor": "Microsoft Corporation\n",
                "/sys/class/dmi/id/product_name": "Surface Laptop 5\n",
            },
            False,
            None,
        ),
        (
            {"/sys/class/dmi/id/sys_vendor": "Google\n", "/sys/class/dmi/id/product_name": "Google Compute Engine\n"},
            True,
            "google",
        ),
        ({"/sys/class/dmi/id/sys_vendor": "LENOVO\n", "/sys/class/dmi/id/product_name": "20XW\n"}, False, None),
        ({"/proc/device-tree/hypervisor/compatible": "linux,kvm\0"}, True, "kvm"),
        ({"/proc/device-tree/compatible": "linux,dummy-virt\0"}, True, "kvm"),
        ({"/proc/device-tree/compatible": "nvidia,p3768-0000+p3767-0005\0nvidia,tegra234\0"}, False, None),
        ({"/sys/hypervisor/type": "xen\n"}, True, "xen"),
        ({"/sys/hypervisor/type": "xen\n", "/proc/xen/capabilities": "control_d\n"}, False, None),
    ],
)
def test_signs_of_a_virtual_machine(
    machine: FakeMachine, files: dict[str, str], virtual: bool, kind: str | None
) -> None:
    for path, text in files.items():
        machine.write(path, text)

    signs = collect_hypervisor(machine.root)

    assert (is_virtual_machine(signs), hypervisor_kind(signs)) == (virtual, kind)


def test_no_signs_at_all_are_no_virtual_machine() -> None:
    assert is_virtual_machine({}) is False

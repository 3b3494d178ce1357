"""The two architectures of the twin: what qemu and Debian call their parts."""

from __future__ import annotations

import os
from dataclasses import dataclass

from twin.errors import TwinError

KVM_VARIABLE = "RERIG_TWIN_KVM"


@dataclass(frozen=True)
class Architecture:
    """``name`` is Debian's; ``library_folder`` is Debian's multiarch name for its libraries."""

    name: str
    library_folder: str
    qemu: str
    machine: str
    cpu: str
    console: str
    has_device_tree: bool

    @property
    def kernel_package(self) -> str:
        """The small kernel for virtual machines: NVMe and ext4 are built in, 80 MB of modules instead of 400."""
        return f"linux-image-cloud-{self.name}"

    @property
    def acceleration(self) -> list[str]:
        """qemu's arguments for the processor: emulated unless the variable asks for KVM."""
        if os.environ.get(KVM_VARIABLE):
            return ["-accel", "kvm", "-cpu", "host"]
        return ["-accel", "tcg,thread=multi", "-cpu", self.cpu]


# Nehalem costs TCG a fifth less than "max" does: it has no vector instructions that must be emulated one by one.
AMD64 = Architecture("amd64", "x86_64-linux-gnu", "qemu-system-x86_64", "q35", "Nehalem", "ttyS0", False)
ARM64 = Architecture(
    "arm64",
    "aarch64-linux-gnu",
    "qemu-system-aarch64",
    "virt",
    "max,pauth-impdef=on",
    "ttyAMA0",
    True,
)
ARCHITECTURES = {architecture.name: architecture for architecture in (AMD64, ARM64)}


def architecture_named(name: str) -> Architecture:
    """Raises TwinError for a name that is none."""
    try:
        return ARCHITECTURES[name]
    except KeyError:
        raise TwinError(f"There is no twin for {name!r}; there is one for {' and '.join(ARCHITECTURES)}.") from None

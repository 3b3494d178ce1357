"""What a board is made of, as plain data that travels to the twin as JSON."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

Flavour = str  # "plain" or "super"


@dataclass(frozen=True)
class Clocks:
    """What one bootloader allows: steps of the GPU (Hz) and of the cores (kHz), ends of the memory's clock (Hz)."""

    gpu_table_hz: tuple[int, ...]
    cpu_table_khz: tuple[int, ...]
    emc_max_hz: int
    emc_min_hz: int = 204_000_000


@dataclass(frozen=True)
class DeviceTree:
    model: str | None
    compatible: tuple[str, ...]


@dataclass(frozen=True)
class Variant:
    """What goes together under one flavour: the bootloader's clocks, the kernel's device tree."""

    clocks: Clocks
    device_tree: DeviceTree


@dataclass(frozen=True)
class Slot:
    """One of the two bootloaders in the flash."""

    version: str
    flavour: Flavour
    status: str = "normal"


@dataclass(frozen=True)
class Gpu:
    """``device``: its folder below /sys; ``aliases``: links to it."""

    name: str = "17000000.gpu"
    device: str = "/sys/devices/platform/bus@0/17000000.gpu"
    aliases: tuple[str, ...] = ("/sys/devices/platform/17000000.gpu", "/sys/devices/platform/gpu.0")


@dataclass(frozen=True)
class Rail:
    label: str
    millivolts: int
    milliamperes: int
    critical_milliamperes: int


@dataclass(frozen=True)
class Link:
    """A disk's PCIe link, in the kernel's words."""

    current_link_speed: str = "8.0 GT/s PCIe"
    current_link_width: str = "4"
    max_link_speed: str = "8.0 GT/s PCIe"
    max_link_width: str = "4"


@dataclass(frozen=True)
class Capsule:
    """An update in /opt/ota_package: for which boards (names as in COMPATIBLE_SPEC), what it brings."""

    version: str
    flavour: Flavour
    specs: tuple[str, ...]
    bytes: int = 64 << 10


@dataclass(frozen=True)
class Release:
    """``first_line`` of /etc/nv_tegra_release; ``version`` with three numbers; ``kernel`` as uname prints it there."""

    version: str
    first_line: str
    kernel: str
    build: str  # what follows the version in the packages' versions

    @property
    def major(self) -> int:
        return int(self.version.partition(".")[0])


@dataclass(frozen=True)
class PowerModel:
    """One mode of a configuration; -1: no cap; the memory's 0 means the same."""

    id: int
    name: str
    cores: int
    cpu_max_khz: int
    gpu_max_hz: int
    emc_max_hz: int
    tpc_pg_mask: int


@dataclass(frozen=True)
class PowerConf:
    """A file of /etc/nvpmodel; ``all_cores`` of the module, with a clock for each of ``cpu_clocks``' first cores."""

    models: tuple[PowerModel, ...]
    default: int
    all_cores: int
    cpu_clocks: tuple[int, ...]


@dataclass(frozen=True)
class Personality:
    """One board in one state. ``ours`` names the values that no recording of a real board gave."""

    name: str
    what: str
    release: Release
    soc: str
    cores: int
    clusters: tuple[tuple[int, ...], ...]
    variants: Mapping[Flavour, Variant]
    slots: tuple[Slot, Slot]
    current_slot: int
    conf: str  # the active file of /etc/nvpmodel
    confs: Mapping[str, PowerConf]
    mode: int | None  # the stored one; None: nothing stored yet
    ids: str | None
    tnspec: str | None  # of /etc/nv_boot_control.conf
    compatible_spec: str | None
    ours: tuple[str, ...]
    variable_tnspec: str | None = None  # of the UEFI variables where they differ from /etc; "" for a missing one
    variable_compatible_spec: str | None = None
    fdt: Flavour | None = None  # whose device tree extlinux.conf names; None: no FDT line
    dtb: str = "kernel_tegra234-p3768-0000+p3767-0005-nv{}.dtb"
    gpu: Gpu = Gpu()
    emc_cap: str = "/sys/kernel/nvpmodel_clk_cap/emc"
    emc_rate_hz: int = 2_133_000_000
    emc_held_hz: int | None = None
    gpu_in_use: bool = True
    cpu_governor: str = "schedutil"
    idle_states: tuple[str, ...] = ("WFI", "c7")
    fan_mode: str | None = "fan_mode_quiet"
    fan_profile: str = "quiet"
    fan_prefix: str = ""
    fan_control: str = "nvfancontrol"
    fan_pwm: int = 69
    nvpmodel_warnings: tuple[str, ...] = ()
    nvpmodel_error_status: int = 0
    chroot: bool = False
    nvpower: bool = True
    tegrastats: tuple[str, ...] = ()
    tegrastats_as_root: tuple[str, ...] = ()
    temperatures: Mapping[str, int] = field(default_factory=dict)  # m°C
    rails: tuple[Rail, ...] = ()
    overcurrents: tuple[int, ...] = (0, 0, 0)
    packages: Mapping[str, str] = field(default_factory=dict)
    capsules: Mapping[str, Capsule] = field(default_factory=dict)
    has_uefi: bool = True
    extra_variables: Mapping[str, bytes] = field(default_factory=dict)  # NAME-GUID: attributes and value
    last_attempt_version: int = 0
    last_attempt_status: int = 0
    lowest_version: str = "36.4.0"
    capsule_status: int = 0
    next_boot_fails: bool = False
    bios_suffix: str = "gcid-42132812"
    dmi: Mapping[str, str] = field(default_factory=dict)
    eeprom_board: str | None = "jetson-orin-nano-devkit-super"
    esp_bytes: int = 63 << 20
    boot_storage: str = "nvme0n1"
    nvme_links: tuple[Link, ...] = (Link(), Link(current_link_width="2"))
    zram_bytes: int | None = 3810 << 20
    desktop: bool = True

    @property
    def running(self) -> Slot:
        return self.slots[self.current_slot]

    @property
    def clocks(self) -> Clocks:
        """What the running bootloader allows."""
        return self.variants[self.running.flavour].clocks

    @property
    def device_tree(self) -> DeviceTree:
        """What the kernel was booted with."""
        return self.variants[self.fdt or self.running.flavour].device_tree


def as_json(personality: Personality, confs_by_machine: Mapping[str, str]) -> dict[str, Any]:
    """What the twin's side reads: see files/twin_l4t."""
    data = asdict(personality)
    for name in ("confs", "capsules", "extra_variables", "variants"):
        del data[name]
    return {
        **data,
        "release": personality.release.major,
        "flavours": {flavour: asdict(variant) for flavour, variant in personality.variants.items()},
        "device_tree_files": {"-super.dtb": "super", ".dtb": "plain"},
        "confs_by_machine": dict(confs_by_machine),
        "efivars": variables(personality),
        "esrt": {
            "fw_version": _number(personality.running.version),
            "lowest_supported_fw_version": _number(personality.lowest_version),
            "last_attempt_version": personality.last_attempt_version,
            "last_attempt_status": personality.last_attempt_status,
        },
        "esrt_class": "bf0d4599-20d4-414e-b2c5-3595b1cda402",
    }


NVIDIA = "781e084c-a330-417c-b678-38e696380cb9"
GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c"


def variables(personality: Personality) -> dict[str, dict[str, Any]]:
    """UEFI's variables: {NAME-GUID: {"attributes", "data" (hex), "immutable"}}."""
    if not personality.has_uefi:
        return {}
    texts = {
        "TegraPlatformSpec": (personality.variable_tnspec, personality.tnspec),
        "TegraPlatformCompatSpec": (personality.variable_compatible_spec, personality.compatible_spec),
    }
    found = {}
    for name, (own, same) in texts.items():
        if text := same if own is None else own:
            found[f"{name}-{NVIDIA}"] = _variable(7, text.encode(), immutable=True)
    found[f"OsIndicationsSupported-{GLOBAL}"] = _variable(6, struct.pack("<Q", 0x47), immutable=True)
    found[f"OsIndications-{GLOBAL}"] = _variable(7, struct.pack("<Q", 0), immutable=True)
    found[f"BootCurrent-{GLOBAL}"] = _variable(6, struct.pack("<H", 1), immutable=False)
    found[f"BootOrder-{GLOBAL}"] = _variable(7, struct.pack("<HH", 1, 0), immutable=False)
    for name, whole in personality.extra_variables.items():
        found[name] = _variable(int.from_bytes(whole[:4], "little"), whole[4:], immutable=True)
    return found


def _variable(attributes: int, data: bytes, *, immutable: bool) -> dict[str, Any]:
    return {"attributes": attributes, "data": data.hex(), "immutable": immutable}


def _number(version: str) -> int:
    major, minor, patch = (int(part) for part in version.split("."))
    return major << 16 | minor << 8 | patch

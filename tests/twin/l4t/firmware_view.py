"""Where a board keeps what its firmware knows, and what that says: slots, capsules, the last step of the clocks."""

from __future__ import annotations

from twin.l4t import shapes
from twin.l4t.bench import NVBOOTCTRL, Bench

NVIDIA = "781e084c-a330-417c-b678-38e696380cb9"
EFIVARS = "/sys/firmware/efi/efivars"
OS_INDICATIONS = f"{EFIVARS}/OsIndications-8be4df61-93ca-11d2-aa0d-00e098032b8c"
CHAIN_STATUS = f"{EFIVARS}/BootChainFwStatus-{NVIDIA}"
ENTRY = "/sys/firmware/efi/esrt/entries/entry0"
TABLE = "/sys/class/devfreq/17000000.gpu/available_frequencies"
CONTROL = "/etc/nv_boot_control.conf"
CAPSULES = "/boot/efi/EFI/UpdateCapsule"
SUPER_CAPSULE = "/opt/ota_package/t23x/TEGRA_BL_3767_super.Cap"
PLAIN_CAPSULE = "/opt/ota_package/t23x/TEGRA_BL_3767.Cap"


def slots(bench: Bench) -> shapes.Slots:
    return shapes.read_slots(bench.done(NVBOOTCTRL, "dump-slots-info"))


def esrt(bench: Bench) -> dict[str, int]:
    names = ("fw_version", "lowest_supported_fw_version", "last_attempt_version", "last_attempt_status")
    return {name: int(bench.word(f"{ENTRY}/{name}")) for name in names}


def last_step(bench: Bench) -> int:
    return int(bench.word(TABLE).split()[-1])

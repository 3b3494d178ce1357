"""The boards that the twin can be. Each is data; another state of one is ``dataclasses.replace(personality, …)``.

Values come from what owners of such boards published. What nobody published was chosen here, and is named in ``ours``:
such a value is a stand-in, and no measurement of a board.
"""

from __future__ import annotations

import struct
from dataclasses import replace

from twin.errors import TwinError
from twin.l4t import modules
from twin.l4t.modules import BOARD_NAMES, compatible_spec, p3767_capsules, packages, recorded_lines
from twin.l4t.power_models import CONFS
from twin.l4t.values import NVIDIA, Gpu, Personality, PowerConf, PowerModel, Release, Slot, Variant

SIX, EIGHT = ((0, 1, 2, 3), (4, 5)), ((0, 1, 2, 3), (4, 5, 6, 7))
ALWAYS_OURS = (
    "steps of the cores between the published ones",
    "currents and voltages of the rails",
    "size and contents of the capsules",
    "text around the values in /etc/nvpmodel",
    "idle values of sysfs: load, fan, temperatures between two samples",
)
PLAIN_TABLE = "the GPU's table but for its last entry"
LEFT_OVER = {f"BootChainFwStatus-{NVIDIA}": struct.pack("<II", 7, 3)}


def _nano(name: str, what: str, release: Release, flavour: str, tnspec: str, **values: object) -> Personality:
    """An Orin Nano 8GB dev kit, every layer of the same flavour."""
    board = Personality(
        name=name,
        what=what,
        release=release,
        soc="tegra234",
        cores=6,
        clusters=SIX,
        variants=modules.NANO_8GB,
        slots=(Slot(release.version, flavour), Slot(release.version, flavour)),
        current_slot=1,
        conf=f"nvpmodel_p3767_0003{'_super' if flavour == 'super' else ''}.conf",
        confs=CONFS,
        mode=None,
        ids="3767-0005-300 3768-0000-400",
        tnspec=f"{tnspec}{BOARD_NAMES[flavour]}-",
        compatible_spec=compatible_spec("0005", flavour),
        ours=ALWAYS_OURS if flavour == "super" else (*ALWAYS_OURS, PLAIN_TABLE),
        tegrastats=recorded_lines("tegrastats_nano_user"),
        tegrastats_as_root=recorded_lines("tegrastats_nano_root"),
        temperatures=modules.NANO_TEMPERATURES,
        rails=modules.NANO_RAILS,
        packages=packages(release),
        capsules=p3767_capsules(release.version),
        dmi=modules.DMI,
    )
    return replace(board, **values)  # type: ignore[arg-type] # any field


SUPER = _nano(
    "orin-nano-super",
    "Orin Nano 8GB, Super in every layer, MAXN_SUPER",
    modules.R36_4_7,
    "super",
    "3767-300-0005-R.1-1-1-",
    mode=2,
    fdt="super",
)
PLAIN = _nano(
    "orin-nano",
    "Orin Nano 8GB as it comes without Super, 15W",
    modules.R36_4_7,
    "plain",
    "3767-301-0005-M.1-1-1-",
    mode=0,
)
HALF = _nano(
    "orin-nano-half",
    "Orin Nano 8GB that says MAXN_SUPER while its GPU ends at 624.75 MHz: the bootloader isn't Super",
    modules.R36_5_2,
    "plain",
    "3767-300-0005-X.1-1-1-",
    conf="nvpmodel_p3767_0003_super.conf",
    mode=2,
    fdt="super",
)
R39 = _nano(
    "orin-nano-r39",
    "Orin Nano 8GB on R39",
    modules.R39_2,
    "super",
    "3767-302-0005-J.1-1-0-",
    mode=2,
    fdt="super",
    tegrastats=recorded_lines("tegrastats_nano_r39"),
    tegrastats_as_root=recorded_lines("tegrastats_nano_r39"),
)
R35 = _nano(
    "orin-nano-r35",
    "Orin Nano 8GB on R35: older paths of the GPU and of the memory's cap",
    modules.R35_4,
    "plain",
    "3767-300-0005-R.1-1-1-",
    mode=0,
    variants={
        "plain": Variant(
            modules.PLAIN_NANO, replace(modules.NANO_8GB["plain"].device_tree, model="NVIDIA Orin Nano Developer Kit")
        )
    },
    gpu=Gpu("17000000.ga10b", "/sys/devices/17000000.ga10b", ("/sys/devices/gpu.0",)),
    emc_cap="/sys/kernel/nvpmodel_emc_cap/emc_iso_cap",
    lowest_version="35.0.0",
    tegrastats=recorded_lines("tegrastats_nano_r35"),
    tegrastats_as_root=recorded_lines("tegrastats_nano_r35"),
    zram_bytes=3668 << 20,
)


def _nx(name: str, what: str, flavour: str, sku: str, variants: dict[str, Variant], **values: object) -> Personality:
    """An Orin NX in the Nano's carrier; MAXN or MAXN_SUPER."""
    cores = 8 if sku == "0000" else 6
    board = replace(
        SUPER,
        name=name,
        what=what,
        cores=cores,
        clusters=EIGHT if cores == 8 else SIX,
        variants=variants,
        slots=(Slot("36.4.7", flavour), Slot("36.4.7", flavour)),
        conf=f"nvpmodel_p3767_{sku}{'_super' if flavour == 'super' else ''}.conf",
        mode=0,
        ids=f"3767-{sku}-300 3768-0000-400",
        tnspec=f"3767-300-{sku}-R.1-1-1-{BOARD_NAMES[flavour]}-",
        compatible_spec=compatible_spec(sku, flavour),
        fdt=flavour,
        ours=(*ALWAYS_OURS, "TNSPEC, model and the GPU's table below 918 MHz"),
        tegrastats=recorded_lines("tegrastats_nx"),
        tegrastats_as_root=recorded_lines("tegrastats_nx"),
    )
    return replace(board, **values)  # type: ignore[arg-type] # any field


NX_16GB = _nx("orin-nx-16gb", "Orin NX 16GB without Super", "plain", "0000", modules.NX_16GB)
NX_16GB_SUPER = _nx("orin-nx-16gb-super", "Orin NX 16GB, Super in every layer", "super", "0000", modules.NX_16GB)
NX_8GB_SUPER = _nx("orin-nx-8gb-super", "Orin NX 8GB, Super in every layer", "super", "0001", modules.NX_8GB)
NX_16GB_HALF = replace(
    NX_16GB_SUPER,
    name="orin-nx-16gb-half",
    what="Orin NX 16GB that says MAXN_SUPER and ends at 918 MHz",
    slots=NX_16GB.slots,
    tnspec=NX_16GB.tnspec,
    compatible_spec=NX_16GB.compatible_spec,
)
NANO_4GB_SUPER = replace(
    SUPER,
    name="orin-nano-4gb-super",
    what="Orin Nano 4GB, Super in every layer",
    variants=modules.NANO_4GB,
    conf="nvpmodel_p3767_0004_super.conf",
    ids="3767-0004-300 3768-0000-400",
    tnspec=f"3767-300-0004-R.1-1-1-{BOARD_NAMES['super']}-",
    compatible_spec=compatible_spec("0004", "super"),
    ours=(*ALWAYS_OURS, "TNSPEC, model, tegrastats of the 8GB board"),
)

OTHERS = (
    replace(SUPER, name="orin-nano-super-25w", what="Super in every layer, mode 25W", mode=1),
    replace(SUPER, name="orin-nano-super-15w", what="Super in every layer, mode 15W", mode=0),
    replace(
        SUPER,
        name="orin-nano-conf-behind",
        what="device tree and bootloader are Super, nvpmodel's file is not",
        conf="nvpmodel_p3767_0003.conf",
        mode=0,
        nvpower=False,
    ),
    replace(
        SUPER,
        name="orin-nano-other-slot",
        what="Super, but a fallback to the other slot would end it",
        slots=(Slot("36.4.4", "plain"), Slot("36.4.7", "super")),
    ),
    replace(
        SUPER,
        name="orin-nano-emc-held",
        what="Super, but the memory stays at 2133 MHz (seen on 36.4.3)",
        release=modules.R36_4_3,
        packages=packages(modules.R36_4_3),
        slots=(Slot("36.4.3", "super"), Slot("36.4.3", "super")),
        emc_held_hz=2_133_000_000,
    ),
    replace(
        HALF,
        name="orin-nano-left-over-status",
        what="as orin-nano-half, with a BootChainFwStatus left over that blocks any capsule",
        extra_variables=LEFT_OVER,
    ),
)

# Boards outside the Super families: what they share is that nothing may be claimed of them.
FOREIGN = {"tnspec": None, "compatible_spec": None, "capsules": {}, "eeprom_board": None, "esp_bytes": 63 << 20}
AGX = replace(
    R39,
    name="agx-orin",
    what="AGX Orin 64GB on R39",
    cores=12,
    clusters=((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11)),
    variants=modules.AGX,
    slots=(Slot("39.2.1", "plain"), Slot("39.2.1", "plain")),
    fdt=None,
    conf="nvpmodel_p3701_0000.conf",
    mode=0,
    ids="3701-0005-500 3737-0000-300",
    ours=(*ALWAYS_OURS, "everything but tegrastats, modes and names"),
    tegrastats=recorded_lines("tegrastats_agx_r39"),
    tegrastats_as_root=recorded_lines("tegrastats_agx_r39"),
    **FOREIGN,  # type: ignore[arg-type] # any field
)
THOR_CONF = "nvpmodel_p3834_0008.conf"
THOR = replace(
    AGX,
    name="thor",
    what="AGX Thor on R38: other names for everything",
    release=modules.R38_4,
    packages=packages(modules.R38_4),
    soc="tegra264",
    cores=14,
    clusters=(tuple(range(14)),),
    variants=modules.THOR,
    slots=(Slot("38.4.0", "plain"), Slot("38.4.0", "plain")),
    conf=THOR_CONF,
    confs={
        THOR_CONF: PowerConf(
            (PowerModel(0, "MAXN", 14, -1, -1, -1, 0), PowerModel(1, "120W", 12, 1_782_000, 945_000_000, -1, 0)),
            1,
            14,
            (0,),
        )
    },
    ids="3834-0008-400 4071-0000-300",
    gpu=Gpu("gpu-gpc-0", "/sys/devices/platform/17000000.gpu", ("/sys/devices/platform/gpu.0",)),
    ours=(*ALWAYS_OURS, "everything but tegrastats and the names"),
    tegrastats=recorded_lines("tegrastats_thor"),
    tegrastats_as_root=recorded_lines("tegrastats_thor"),
)
STRANGER = replace(
    SUPER,
    name="unknown-board",
    what="an Orin in somebody's own carrier: nvpower gives it the AGX's file",
    variants=modules.STRANGER,
    slots=(Slot("36.4.7", "plain"), Slot("36.4.7", "plain")),
    fdt=None,
    conf="nvpmodel_p3701_0000.conf",
    mode=None,
    ids=None,
    ours=("everything",),
    **FOREIGN,  # type: ignore[arg-type] # any field
)

PERSONALITIES = {
    board.name: board
    for board in (
        *(SUPER, PLAIN, HALF, R39, R35),
        *(NX_16GB, NX_16GB_SUPER, NX_8GB_SUPER, NX_16GB_HALF, NANO_4GB_SUPER),
        *OTHERS,
        *(AGX, THOR, STRANGER),
    )
}


def personality_named(name: str) -> Personality:
    """Raises TwinError for a name that is none."""
    try:
        return PERSONALITIES[name]
    except KeyError:
        raise TwinError(f"There is no personality {name!r}; there are {', '.join(PERSONALITIES)}.") from None

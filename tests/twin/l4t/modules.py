"""The modules and releases that the personalities are put together from."""

from __future__ import annotations

from pathlib import Path

from twin.l4t.values import Capsule, Clocks, DeviceTree, Rail, Release, Variant

RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "l4t"


def recorded_lines(name: str) -> tuple[str, ...]:
    return tuple((RECORDED / f"{name}.txt").read_text("utf-8").splitlines())


def _release(version: str, line: str, kernel: str, build: str) -> Release:
    return Release(version, line, kernel, build)


def _line(major: int, revision: str, gcid: int, date: str, board: str = "generic") -> str:
    return f"# R{major} (release), REVISION: {revision}, GCID: {gcid}, BOARD: {board}, EABI: aarch64, DATE: {date}"


# Time and weekday of R35, R38 and R39 and the build of 36.4.3 and 35.4.1 are ours, the rest was seen on boards.
R35_4 = _release(
    "35.4.1",
    _line(35, "4.1", 33958178, "Tue Aug  1 19:57:35 UTC 2023", "t186ref"),
    "5.10.120-tegra",
    "20230801124926",
)
R36_4_3 = _release(
    "36.4.3", _line(36, "4.3", 38968081, "Wed Jan  8 01:49:37 UTC 2025"), "5.15.148-tegra", "20250107174145"
)
R36_4_7 = _release(
    "36.4.7", _line(36, "4.7", 42132812, "Thu Sep 18 22:54:44 UTC 2025"), "5.15.148-tegra", "20250918154033"
)
R36_5_2 = _release(
    "36.5.2", _line(36, "5.2", 46426093, "Thu Jul 16 18:56:22 UTC 2026"), "5.15.199-tegra", "20260716114719"
)
R38_4 = _release("38.4.0", _line(38, "4.0", 43443517, "Tue Dec 30 23:06:01 UTC 2025"), "6.8.12-tegra", "20251230160601")
R39_2 = _release("39.2.1", _line(39, "2.1", 46758480, "Fri Aug  7 05:41:57 UTC 2026"), "6.8.12-tegra", "20260806224157")

CPU_STEPS_KHZ = tuple(range(729_600, 1_728_000 + 1, 76_800))
PLAIN_NANO_CPU_KHZ = (*(step for step in CPU_STEPS_KHZ if step < 1_510_400), 1_510_400)
NX_CPU_KHZ = (*CPU_STEPS_KHZ, 1_804_800, 1_881_600, 1_958_400, 1_984_000)
NX_GPU_HZ = tuple(range(306_000_000, 918_000_000 + 1, 102_000_000))
SUPER_NANO_GPU_HZ = (*NX_GPU_HZ, 1_020_000_000)
PLAIN_NANO_GPU_HZ = (306_000_000, 408_000_000, 624_750_000)  # only the end is known
SUPER_NX_GPU_HZ = (*NX_GPU_HZ, 1_020_000_000, 1_122_000_000, 1_173_000_000)
AGX_GPU_HZ = (*range(114_750_000, 1_236_750_000 + 1, 102_000_000), 1_300_500_000)

KIT = "Engineering Reference Developer Kit"
PLAIN_EMC_HZ, SUPER_EMC_HZ = 2_133_000_000, 3_199_000_000


def _p3767(sku: str, model: str, plain: Clocks, better: Clocks) -> dict[str, Variant]:
    def tree(ending: str) -> DeviceTree:
        names = (f"nvidia,p3768-0000+p3767-{sku}{ending}", f"nvidia,p3767-{sku}", "nvidia,tegra234")
        return DeviceTree(f"NVIDIA Jetson {model} {KIT}{' Super' if ending else ''}", names)

    return {"plain": Variant(plain, tree("")), "super": Variant(better, tree("-super"))}


PLAIN_NANO = Clocks(PLAIN_NANO_GPU_HZ, PLAIN_NANO_CPU_KHZ, PLAIN_EMC_HZ)
SUPER_NANO = Clocks(SUPER_NANO_GPU_HZ, CPU_STEPS_KHZ, SUPER_EMC_HZ)
PLAIN_NX = Clocks(NX_GPU_HZ, NX_CPU_KHZ, SUPER_EMC_HZ)
SUPER_NX = Clocks(SUPER_NX_GPU_HZ, NX_CPU_KHZ, SUPER_EMC_HZ)
NANO_8GB = _p3767("0005", "Orin Nano", PLAIN_NANO, SUPER_NANO)
NANO_4GB = _p3767("0004", "Orin Nano", PLAIN_NANO, SUPER_NANO)
NX_8GB = _p3767("0001", "Orin NX", PLAIN_NX, SUPER_NX)
NX_16GB = _p3767("0000", "Orin NX", PLAIN_NX, SUPER_NX)


def single(clocks: Clocks, model: str, *compatible: str) -> dict[str, Variant]:
    """A module that knows no Super."""
    return {"plain": Variant(clocks, DeviceTree(model, compatible))}


AGX = single(
    Clocks(AGX_GPU_HZ, tuple(range(729_600, 2_201_600 + 1, 76_800)), SUPER_EMC_HZ),
    "NVIDIA Jetson AGX Orin Developer Kit",
    "nvidia,p3737-0000+p3701-0000",
    "nvidia,p3701-0000",
    "nvidia,tegra234",
)
THOR = single(
    Clocks((315_000_000, 945_000_000, 1_575_000_000), (972_000, 1_782_000, 2_601_000), 4_266_000_000),
    "NVIDIA Jetson AGX Thor Developer Kit",
    "nvidia,p3971-0089+p3834-0008",
    "nvidia,p3834-0008",
    "nvidia,tegra264",
)
STRANGER = single(PLAIN_NX, "Example Carrier Board", "example,carrier-1", "nvidia,tegra234")

NANO_RAILS = (
    Rail("VDD_IN", 4_952, 940, 4_984),
    Rail("VDD_CPU_GPU_CV", 4_944, 112, 32_760),
    Rail("VDD_SOC", 4_944, 300, 32_760),
)
NANO_TEMPERATURES = {
    "cpu-thermal": 47_875,
    "gpu-thermal": 50_218,
    "soc0-thermal": 47_281,
    "soc1-thermal": 48_281,
    "soc2-thermal": 46_750,
    "tj-thermal": 50_218,
}
DMI = {"product_name": f"NVIDIA Jetson Orin Nano {KIT}", "sys_vendor": "NVIDIA"}
BOARD_NAMES = {"plain": "jetson-orin-nano-devkit", "super": "jetson-orin-nano-devkit-super"}
PARTS = ("core", "init", "tools", "bootloader", "nvpmodel", "cuda")


def packages(release: Release) -> dict[str, str]:
    """Those of L4T in the release's version, as dpkg lists them."""
    whole = f"{release.version}-{release.build}"
    return {f"nvidia-l4t-{part}": whole for part in PARTS} | {"nvidia-l4t-kernel": f"{release.kernel}-{whole}"}


def compatible_spec(sku: str, flavour: str) -> str:
    """As the boot tools put it together: the fab stands only for the SKUs 0000 and 0002."""
    fab = "000" if sku in ("0000", "0002") else ""
    return f"3767-{fab}-{sku}--1--{BOARD_NAMES[flavour]}-"


def p3767_capsules(version: str) -> dict[str, Capsule]:
    """The two updates that the bootloader's package brings."""
    return {
        f"/opt/ota_package/t23x/TEGRA_BL_3767{ending}.Cap": Capsule(
            version, flavour, tuple(compatible_spec(f"000{sku}", flavour) for sku in (0, 1, 3, 4, 5))
        )
        for ending, flavour in (("", "plain"), ("_super", "super"))
    }

"""The power modes of the modules, and the configuration files of nvpmodel made of them.

Modes, caps and masks are those of the public configurations. The text around them is ours, and so is what is left out:
the deep learning and vision accelerators of the Orin NX, which no reader here looks at.
"""

from __future__ import annotations

from twin.l4t.values import PowerConf, PowerModel

NO_CAP = -1
CPU_MIN_KHZ = 729_600
CPU = "/sys/devices/system/cpu"


def _models(*rows: tuple[int, str, int, int, int, int, int]) -> tuple[PowerModel, ...]:
    """Rows of (id, name, cores, CPU kHz, GPU MHz, EMC MHz, TPC_PG_MASK); -1 and 0 stay as they are."""
    return tuple(
        PowerModel(
            number, name, cores, cpu, gpu * 1_000_000 if gpu > 0 else gpu, emc * 1_000_000 if emc > 0 else emc, mask
        )
        for number, name, cores, cpu, gpu, emc, mask in rows
    )


NANO_CLOCKS, PLAIN_CLOCKS = (0, 1, 2, 3, 4, 5), (0, 4)
CONFS = {
    "nvpmodel_p3767_0003_super.conf": PowerConf(
        _models(
            (0, "15W", 6, 1_497_600, 612, 2133, 240),
            (1, "25W", 6, 1_344_000, 918, 3199, 240),
            (2, "MAXN_SUPER", 6, NO_CAP, NO_CAP, NO_CAP, 240),
        ),
        1,
        6,
        NANO_CLOCKS,
    ),
    "nvpmodel_p3767_0003.conf": PowerConf(
        _models((0, "15W", 6, NO_CAP, NO_CAP, 0, 240), (1, "7W", 4, 960_000, 408, 2133, 252)), 0, 6, PLAIN_CLOCKS
    ),
    "nvpmodel_p3767_0004_super.conf": PowerConf(
        _models(
            (0, "10W", 6, 1_497_600, 612, 2133, 252),
            (1, "25W", 6, 1_728_000, 1020, 3199, 252),
            (2, "MAXN_SUPER", 6, NO_CAP, NO_CAP, NO_CAP, 252),
        ),
        1,
        6,
        NANO_CLOCKS,
    ),
    "nvpmodel_p3767_0004.conf": PowerConf(
        _models(
            (0, "10W", 6, NO_CAP, NO_CAP, 0, 252),
            (1, "7W_AI", 4, 806_400, 408, 2133, 252),
            (2, "7W_CPU", 4, 960_000, 306, 2133, 252),
        ),
        0,
        6,
        PLAIN_CLOCKS,
    ),
    "nvpmodel_p3767_0001_super.conf": PowerConf(
        _models(
            (0, "MAXN_SUPER", 6, NO_CAP, NO_CAP, NO_CAP, 240),
            (1, "10W", 4, 1_190_400, 612, 2133, 252),
            (2, "15W", 4, 1_420_800, 612, NO_CAP, 252),
            (3, "20W", 6, 1_497_600, 408, NO_CAP, 240),
            (4, "40W", 6, 1_984_000, 1173, NO_CAP, 240),
        ),
        4,
        6,
        NANO_CLOCKS,
    ),
    "nvpmodel_p3767_0001.conf": PowerConf(
        _models(
            (0, "MAXN", 6, NO_CAP, NO_CAP, 0, 240),
            (1, "10W", 4, 1_190_400, 612, 2133, 252),
            (2, "15W", 4, 1_420_800, 612, 0, 252),
            (3, "20W", 6, 1_497_600, 408, 0, 240),
        ),
        2,
        6,
        PLAIN_CLOCKS,
    ),
    "nvpmodel_p3767_0000_super.conf": PowerConf(
        _models(
            (0, "MAXN_SUPER", 8, NO_CAP, NO_CAP, NO_CAP, 240),
            (1, "10W", 4, 1_190_400, 612, 2133, 252),
            (2, "15W", 4, 1_420_800, 612, NO_CAP, 252),
            (3, "25W", 8, 1_497_600, 408, NO_CAP, 240),
            (4, "40W", 8, 1_497_600, 1173, NO_CAP, 240),
        ),
        4,
        8,
        tuple(range(8)),
    ),
    "nvpmodel_p3767_0000.conf": PowerConf(
        _models(
            (0, "MAXN", 8, NO_CAP, NO_CAP, 0, 240),
            (1, "10W", 4, 1_190_400, 612, 2133, 252),
            (2, "15W", 4, 1_651_200, 612, 0, 252),
            (3, "25W", 8, 1_497_600, 408, 0, 240),
        ),
        2,
        8,
        PLAIN_CLOCKS,
    ),
    # The AGX Orin's, which nvpower also takes for boards that it doesn't know; the modes are those of a public listing.
    "nvpmodel_p3701_0000.conf": PowerConf(
        (
            PowerModel(0, "MAXN", 12, NO_CAP, NO_CAP, 0, 0),
            PowerModel(1, "MODE_15W", 4, 1_113_600, 420_750_000, 2_133_000_000, 248),
            PowerModel(2, "MODE_30W", 8, 1_728_000, 624_750_000, 0, 240),
            PowerModel(3, "MODE_50W", 12, 1_497_600, 828_750_000, 0, 0),
        ),
        2,
        12,
        (0, 4, 8),
    ),
}
# nvpower's choice, by the first name in the device tree's "compatible". The dev kit's 0005 takes the 0003's file.
BY_MACHINE = {
    f"nvidia,p3768-0000+p3767-{sku}{ending}": f"nvpmodel_p3767_{'0003' if sku == '0005' else sku}{suffix}.conf"
    for sku in ("0000", "0001", "0003", "0004", "0005")
    for ending, suffix in (("", ""), ("-super", "_super"))
} | {
    "nvidia,p3737-0000+p3701-0000": "nvpmodel_p3701_0000.conf",
    "nvidia,p3971-0089+p3834-0008": "nvpmodel_p3834_0008.conf",
}

OLD_GPU = "/sys/devices/17000000.ga10b/devfreq/17000000.ga10b"
NEW_GPU = "/sys/devices/platform/17000000.gpu/devfreq_dev"


def conf_text(conf: PowerConf) -> str:
    """The file, in nvpmodel's syntax."""
    lines = ["# Power models of the twin's board", "", "< PARAM TYPE=FILE NAME=CPU_ONLINE >"]
    lines += [f"CORE_{core} {CPU}/cpu{core}/online" for core in range(conf.all_cores)]
    for name, argument, file in (
        ("FBP_POWER_GATING", "FBP_PG_MASK", "fbp_pg_mask"),
        ("TPC_POWER_GATING", "TPC_PG_MASK", "tpc_pg_mask"),
        ("GPU_POWER_CONTROL_ENABLE", "GPU_PWR_CNTL_EN", "power/control"),
        ("GPU_POWER_CONTROL_DISABLE", "GPU_PWR_CNTL_DIS", "power/control"),
    ):
        lines += ["", f"< PARAM TYPE=FILE NAME={name} >", f"{argument} /sys/devices/gpu.0/{file}"]
        lines += [f"{argument}_KNEXT /sys/devices/platform/gpu.0/{file}"]
    for number, core in enumerate(conf.cpu_clocks):
        folder = f"{CPU}/cpu{core}/cpufreq"
        lines += ["", f"< PARAM TYPE=CLOCK NAME=CPU_A78_{number} >"]
        for ending in ("", "_KNEXT"):
            lines += [f"FREQ_TABLE{ending} {folder}/scaling_available_frequencies"]
            lines += [f"{end}_FREQ{ending} {folder}/scaling_{end.lower()}_freq" for end in ("MAX", "MIN")]
    lines += ["", "< PARAM TYPE=CLOCK NAME=GPU >"]
    for ending, folder in (("", OLD_GPU), ("_KNEXT", NEW_GPU)):
        lines += [f"FREQ_TABLE{ending} {folder}/available_frequencies"]
        lines += [f"{end}_FREQ{ending} {folder}/{end.lower()}_freq" for end in ("MAX", "MIN")]
    # As in the real files: no blank before PARAM.
    lines += ["", "<PARAM TYPE=CLOCK NAME=EMC >", "MAX_FREQ /sys/kernel/nvpmodel_emc_cap/emc_iso_cap"]
    lines += ["MAX_FREQ_KNEXT /sys/kernel/nvpmodel_clk_cap/emc"]
    for model in conf.models:
        lines += ["", *_model_lines(conf, model)]
    return "\n".join([*lines, "", f"< PM_CONFIG DEFAULT={conf.default} >", ""])


def _model_lines(conf: PowerConf, model: PowerModel) -> list[str]:
    lines = [f"< POWER_MODEL ID={model.id} NAME={model.name} >"]
    lines += [f"CPU_ONLINE CORE_{core} {int(core < model.cores)}" for core in range(conf.all_cores)]
    lines += ["FBP_POWER_GATING FBP_PG_MASK 2", f"TPC_POWER_GATING TPC_PG_MASK {model.tpc_pg_mask}"]
    lines += ["GPU_POWER_CONTROL_ENABLE GPU_PWR_CNTL_EN on"]
    for number, core in enumerate(conf.cpu_clocks):
        if core < model.cores:
            lines += [f"CPU_A78_{number} MIN_FREQ {CPU_MIN_KHZ}", f"CPU_A78_{number} MAX_FREQ {model.cpu_max_khz}"]
    lines += ["GPU MIN_FREQ 0", f"GPU MAX_FREQ {model.gpu_max_hz}"]
    return [*lines, "GPU_POWER_CONTROL_DISABLE GPU_PWR_CNTL_DIS auto", f"EMC MAX_FREQ {model.emc_max_hz}"]

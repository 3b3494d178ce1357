"""Raw power budgets as the agent leaves them, of a board in the shape of an Orin Nano's files. Every number is ours."""

from __future__ import annotations

import json
from typing import Any

from raw_runs import end, raw_file, raw_run, session, start
from rerig.rundir import RawRepeat, RawRun

GPU_HZ, CPU_KHZ = 1_020_000_000, 1_728_000
LINE = (
    "12-03-2026 10:00:00 RAM 2201/7620MB (lfb 9x4MB) SWAP 0/3810MB (cached 0MB) "
    "CPU [100%@1728,100%@1728,99%@1728,100%@1728,100%@1728,100%@1728] GR3D_FREQ {gpu}%@[1019] cpu@68.2C soc2@64.1C "
    "soc0@63.9C gpu@66.5C tj@{tj}C soc1@65.2C VDD_IN {mw}mW/{mw}mW VDD_CPU_GPU_CV 12000mW/12000mW VDD_SOC 3000mW/3000mW"
)
SENSORS = {
    "zones": {"thermal_zone0": "cpu-thermal", "thermal_zone1": "tj-thermal", "thermal_zone2": "cv0-thermal"},
    "monitors": {"hwmon1": ["in1_label", "in1_input", "curr1_input"]},
    "gpu": {
        "name": "17000000.gpu",
        "available_frequencies": "306000000 1020000000\n",
        "max_freq": f"{GPU_HZ}\n",
        "has_load": True,
    },
    "cpus": {f"cpu{n}": {"scaling_max_freq": f"{CPU_KHZ}\n", "cpuinfo_max_freq": "1728000\n"} for n in range(6)},
}
BARE = {"zones": {}, "monitors": {}, "gpu": None, "cpus": {}}


def stat(seconds: float, busy: float = 1.0, cores: int = 6, idle_cores: int = 0) -> str:
    """/proc/stat's lines about processors after so many seconds; the last ``idle_cores`` do nothing."""
    lines = ["cpu  1 2 3 4 5 6 7 8 9 10"]
    for core in range(cores):
        share = 0.0 if core >= cores - idle_cores else busy
        user, idle = round(100 * seconds * share), round(100 * seconds * (1 - share))
        lines.append(f"cpu{core} {1000 + user} 0 50 {2000 + idle} 10 0 5 0 0 0")
    return "\n".join(lines) + "\n"


def sample(at_s: float, phase: str = "load", **changes: Any) -> dict[str, Any]:
    """What all sensors say at one moment: 19.5 W, tj at 70.25 °C, all clocks at their highest."""
    return {
        "at_s": at_s,
        "phase": phase,
        "stat": stat(at_s),
        "zones": {"thermal_zone0": "68000\n", "thermal_zone1": "70250\n", "thermal_zone2": None},
        "monitors": {"hwmon1": {"in1_label": "VDD_IN\n", "in1_input": "5000\n", "curr1_input": "3900\n"}},
        "gpu": {"cur_freq": f"{GPU_HZ}\n", "load": "990\n"},
        "cpus": {f"cpu{number}": f"{CPU_KHZ}\n" for number in range(6)},
        **changes,
    }


def bare_sample(at_s: float, phase: str = "load", **changes: Any) -> dict[str, Any]:
    """A machine that tells nothing but how busy its two processors are."""
    nothing = {"zones": {}, "monitors": {}, "gpu": None, "cpus": {}, "stat": stat(at_s, cores=2)}
    return {**sample(at_s, phase), **nothing, **changes}


def texts(samples: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(one) + "\n" for one in samples)


def events(*more: dict[str, Any]) -> str:
    """What the load's keeper told."""
    cores = [{"event": "core", "after_s": 0.02, "cpu": number, "pid": 100 + number} for number in range(6)]
    return texts([*cores, *more])


GPU_STARTED = {"event": "gpu", "after_s": 0.1, "pid": 110}


def power_case(repeats: int = 1, gpu: bool = True, load_s: int = 90) -> dict[str, Any]:
    """A planned power budget."""
    return {
        "id": "load-90s.t1",
        "target": "t1",
        "identity": {"kind": "power_budget", "load_s": load_s, "gpu": gpu},
        "extent": "timed",
        "parameters": {"load_s": load_s, "cool_s": 30, "sample_s": 1, "gpu_load": ["/opt/burn"] if gpu else None},
        "repeats": [{"number": n, "seed": n} for n in range(1, repeats + 1)],
        "limit_s": 200.0,
        "estimate_s": 120.0,
        "estimate_bytes": 0,
        "skip": None,
    }


def power_repeat(
    number: int = 1,
    samples: list[dict[str, Any]] | None = None,
    tegrastats: str | None = None,
    load: str | None = None,
    **record: Any,
) -> RawRepeat:
    """A repeat of 90 s that went well, with 91 samples of the load and one of the cooling, unless others are given."""
    if samples is None:
        samples = [*(sample(float(second)) for second in range(91)), sample(95.0, "cool")]
    what = {
        "started_at": "2026-03-01T10:00:00.000Z",
        "wall_s": 120.4,
        "load_s": 90.3,
        "cpus": list(range(6)),
        "gpu_load": ["/opt/burn", "--of", "a person"],
        "tegrastats": None if tegrastats is None else "/usr/bin/tegrastats",
        "sensors": SENSORS,
        "exit_status": 0,
        "timed_out": False,
        "unkillable": False,
        "error": None,
        **record,
    }
    kept = {"record": json.dumps(what), "samples": texts(samples), "load": load or events(GPU_STARTED)}
    kept.update({"stdout": "", "stderr": ""} | ({} if tegrastats is None else {"tegrastats": tegrastats}))
    names = {"samples": "samples.jsonl", "load": "load.jsonl", "record": "record.json"}
    files = {
        role: raw_file(f"cases/load-90s.t1/r{number}/{names.get(role, role)}", text) for role, text in kept.items()
    }
    return RawRepeat(number, what, files)


def power_run(case: dict[str, Any], *repeats: RawRepeat) -> RawRun:
    """A whole run of one power budget."""
    machine = {"t1": {"kind": "machine"}}
    run = raw_run([case], {case["id"]: list(repeats)}, [session([start(), end()], targets=machine)])
    run.plan["suite"]["name"] = "power-budget"
    run.plan["targets"] = [{"id": "t1", "label": "this machine", "origin": "machine"}]
    return run

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.judge.conditions_summary import public_kernel_release, summarize

EVIDENCE: dict[str, Any] = {
    "kernel_release": "6.8.0-45-generic",
    "machine": "x86_64",
    "os_release": 'ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu of someone"\nHOME_URL="https://example.net/"\n',
    "cpuinfo": "processor\t: 0\nmodel name\t: Intel(R) Core(TM) i7-1065G7 CPU @ 1.30GHz\n\nprocessor\t: 1\n",
    "meminfo": "MemTotal:       16000000 kB\nMemAvailable:    8000000 kB\nSwapTotal: 2000 kB\nSwapFree: 500 kB\n",
    "loadavg": "0.52 0.58 0.59 1/597 12345\n",
    "swaps": "Filename\tType\tSize\tUsed\tPriority\n/home/someone/swap file partition 2000 1500 -2\n",
    "pressure": {
        "cpu": None,
        "io": "some avg10=1.50 avg60=0.10 avg300=0.00 total=123\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
        "memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
    },
    "governors": {"cpu0": "powersave", "cpu1": "performance", "cpu2": "performance"},
    "cpu_frequencies_khz": {"cpu0": 800_000, "cpu1": 3_900_000},
    "hypervisor": {"cpu_flag": True, "dmi_vendor": "QEMU", "dmi_product": "someone's machine"},
    "device_tree_model": None,
    "thermal_zones": [
        {"type": "x86_pkg_temp", "temperature_millicelsius": 61500},
        {"type": "broken", "temperature_millicelsius": -274000},
        {"type": "absent", "temperature_millicelsius": None},
    ],
    "boot_id": "0b5c0000-uuid",
    "uptime_s": 86400.75,
    "page_bytes": 4096,
    "python": "3.12.3",
}


def test_the_summary_of_a_machine() -> None:
    swaps = "Filename\tType\tSize\tUsed\tPriority\n/dev/zram0 partition 2000 1500 100\n"

    assert summarize({**EVIDENCE, "swaps": swaps}) == {
        "kernel_release": "6.8.0-45-generic",
        "architecture": "x86_64",
        "os_id": "ubuntu",
        "os_version": "24.04",
        "python": "3.12.3",
        "board_model": None,
        "cpu_model": "Intel(R) Core(TM) i7-1065G7 CPU @ 1.30GHz",
        "hypervisor": True,
        "hypervisor_kind": "kvm",
        "cores": 2,
        "page_bytes": 4096,
        "memory_bytes": 16_384_000_000,
        "memory_available_bytes": 8_192_000_000,
        "swap_bytes": 2_048_000,
        "swap_used_bytes": 1_536_000,
        "swap_on_zram": True,
        "load_1m": 0.52,
        "load_5m": 0.58,
        "load_15m": 0.59,
        "io_pressure_avg10": 1.5,
        "memory_pressure_avg10": 0.0,
        "governors": ["performance", "powersave"],
        "cpu_khz_lowest": 800_000,
        "cpu_khz_highest": 3_900_000,
        "temperature_highest_c": 61.5,
        "uptime_s": 86400,
        "board_state": None,
    }


def test_a_jetson_names_its_board() -> None:
    evidence = {**EVIDENCE, "device_tree_model": "NVIDIA Jetson Orin Nano Developer Kit", "hypervisor": {}}
    evidence["cpuinfo"] = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd42\n"

    summary = summarize(evidence)

    assert summary["board_model"] == "NVIDIA Jetson Orin Nano Developer Kit"
    assert (summary["cpu_model"], summary["cores"], summary["hypervisor"]) == (None, 1, False)


def test_nothing_that_a_person_chose_is_in_it() -> None:
    text = json.dumps(summarize(EVIDENCE))

    for secret in ("someone", "0b5c", "/home", "example.net"):
        assert secret not in text


@pytest.mark.parametrize(
    "release",
    [
        "5.15.148-tegra",
        "5.10.104-tegra",
        "6.8.0-45-generic",
        "6.1.0-28-amd64",
        "6.1.0-28-cloud-amd64",
        "6.6.51+rpt-rpi-2712",
        "6.12.0-0.rc3.el10.x86_64",
        "6.11.4-201.fc40.x86_64",
        "5.14.0-427.13.1.el9_4.aarch64",
        "6.9.3-arch1-1",
        "6.8.12-4-pve",
        "5.15.153.1-microsoft-standard-WSL2",
        "4.9.337",
        "6.13.0-rc4-gabcdef123456-dirty",
        "5.15.0-1063-raspi",
        "6.5.0-1022-oem",
        "6.17.0+",
    ],
)
def test_the_releases_of_distributions_boards_and_clouds_stay(release: str) -> None:
    assert public_kernel_release(release) == release


@pytest.mark.parametrize(
    ("release", "shown"),
    [
        ("6.9.3-minsu-laptop", "6.9.3-custom"),
        ("6.9.3-custom-minsu", "6.9.3-custom"),
        ("6.9.3minsu", "6.9.3-custom"),
        ("6.9.3_minsu", "6.9.3-custom"),
        ("6.9.3-1-minsu@host", "6.9.3-1-custom"),
        ("6.9.3-generic minsu", "6.9.3-custom"),
        ("192.168.1.20", None),
        ("10.0.0.5-generic", None),
        ("6.9.3-10.0.0.5", "6.9.3-custom"),
        ("6.9.3" + "-1" * 60, None),
        ("minsu", None),
        ("", None),
        (None, None),
    ],
)
def test_a_name_in_a_home_built_release_is_replaced(release: str | None, shown: str | None) -> None:
    assert public_kernel_release(release) == shown


@pytest.mark.parametrize(
    ("version", "shown"),
    [
        ("24.04", "24.04"),
        ("p10", "p10"),
        ("V10", "V10"),
        ("3.21.0_alpha20240923", "3.21.0_alpha20240923"),
        ("192.168.1.20", None),
        ("workstation", None),
        ("00-16-3e-5a-0b-1c", None),
    ],
)
def test_a_distributions_version_is_no_address_and_no_name(version: str, shown: str | None) -> None:
    evidence = {**EVIDENCE, "os_release": f"ID=ubuntu\nVERSION_ID={version}\n"}
    assert summarize(evidence)["os_version"] == shown


def test_a_distributions_id_has_no_dot_as_a_hosts_name_has() -> None:
    assert summarize({**EVIDENCE, "os_release": "ID=nas.example.net\n"})["os_id"] is None
    assert summarize({**EVIDENCE, "os_release": "ID=opensuse-leap\n"})["os_id"] == "opensuse-leap"


@pytest.mark.parametrize("address", ["192.168.1.20", "00-16-3e-5a-0b-1c", "0b5c1f2e-7a3d-4c1e-9f00-1234567890ab"])
def test_a_processor_or_board_that_is_called_after_an_address_has_no_name(address: str) -> None:
    cpuinfo = f"processor\t: 0\nmodel name\t: Virtual CPU {address}\n"
    summary = summarize({**EVIDENCE, "cpuinfo": cpuinfo, "device_tree_model": f"Board ({address})"})
    assert (summary["cpu_model"], summary["board_model"]) == (None, None)


junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["io", "cpu0", "type", "x"]), inner)
    ),
    max_leaves=6,
)


@given(st.fixed_dictionaries({}, optional={key: st.one_of(junk, st.just(value)) for key, value in EVIDENCE.items()}))
def test_partial_evidence_never_raises_and_gives_every_key(evidence: dict[str, Any]) -> None:
    summary = summarize(evidence)

    assert set(summary) == set(summarize(EVIDENCE))
    json.dumps(summary, allow_nan=False, ensure_ascii=False).encode("utf-8")

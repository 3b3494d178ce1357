"""A power budget's result from its raw files: what was loaded, what it came to, and when it is only a part."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raw_power import (
    BARE,
    GPU_STARTED,
    LINE,
    bare_sample,
    events,
    power_case,
    power_repeat,
    power_run,
    sample,
    stat,
)
from rerig.build import build_result
from rerig.schema import validate
from rerig.sessions import RawSession


def built(*repeats: Any, case: dict[str, Any] | None = None) -> dict[str, Any]:
    result = build_result(power_run(case or power_case(len(repeats)), *repeats))
    assert validate(result) == []
    return result


def one(*repeats: Any, case: dict[str, Any] | None = None) -> tuple[dict[str, Any], list[str]]:
    """The first repeat, and the codes of the case's issues."""
    (found,) = built(*repeats, case=case)["cases"]
    return found["repeats"][0], [issue["code"] for issue in found["validity"]["issues"]]


def of_load(**changes: Any) -> list[dict[str, Any]]:
    return [sample(float(second), **changes) for second in range(91)]


def test_a_whole_load_is_a_valid_measurement_with_its_figures() -> None:
    result = built(power_repeat())
    (case,) = result["cases"]
    assert (case["status"], case["validity"], case["extent"]) == (
        "measured",
        {"verdict": "valid", "issues": []},
        "timed",
    )
    raw = case["repeats"][0].pop("raw")
    assert sorted(raw) == ["load", "record", "samples", "stderr", "stdout"]
    assert case["repeats"] == [
        {
            "number": 1,
            "started_at": "2026-03-01T10:00:00.000Z",
            "wall_s": 120.4,
            "exit_status": 0,
            "load_s": 90.3,
            "samples": 91,
            "partial": False,
            "cores_online": 6,
            "cores_loaded": 6,
            "gpu_load_mean": 0.99,
            "gpu_loaded": True,
            "input_power_highest_w": 19.5,
            "input_power_source": "ina3221",
            "tj_highest_c": 70.25,
            "tj_source": "thermal_zone",
            "temperature_highest_c": 70.25,
            "gpu_clock": {"max_hz": 1_020_000_000, "lowest_hz": 1_020_000_000, "share_at_max": 1.0},
            "cpu_clock": {"max_hz": 1_728_000_000, "lowest_hz": 1_728_000_000, "share_at_max": 1.0},
            "missing": [],
        }
    ]
    assert result["targets"] == [{"id": "t1", "label": "this machine", "origin": "machine"}]
    assert result["validity"] == {"verdict": "valid", "issues": []}


def test_the_users_command_for_the_gpu_is_in_no_result() -> None:
    text = json.dumps(built(power_repeat()))
    assert "burn" not in text
    assert "a person" not in text


def test_the_highest_counts_while_the_load_lasts_and_not_while_it_cools() -> None:
    hot = sample(95.0, "cool", zones={"thermal_zone1": "90000\n"})
    peak = sample(3.0, monitors={"hwmon1": {"in1_label": "VDD_IN", "in1_input": "4980", "curr1_input": "4318"}})
    found, _ = one(power_repeat(samples=[*of_load()[:3], peak, *of_load()[4:], hot]))
    assert (found["tj_highest_c"], found["input_power_highest_w"]) == (70.25, 21.504)


def test_tegrastats_counts_beside_the_power_monitor_and_names_tj_where_no_zone_does() -> None:
    lines = "".join(LINE.format(gpu=99, tj=71.5, mw=20100 + number) + "\n" for number in range(90))
    unzoned = [{**one, "zones": {}} for one in of_load()]
    found, codes = one(power_repeat(samples=unzoned, tegrastats=lines))
    assert (found["input_power_highest_w"], found["input_power_source"]) == (20.189, "tegrastats")
    assert (found["tj_highest_c"], found["tj_source"], found["temperature_highest_c"]) == (71.5, "tegrastats", None)
    assert codes == []


def test_a_board_whose_rails_feed_parts_of_it_alone_tells_no_input_power() -> None:
    agx = LINE.format(gpu=99, tj=60, mw=9000).replace("VDD_IN", "VDD_GPU_SOC").replace("VDD_SOC", "VIN_SYS_5V0")
    parts = of_load(monitors={"hwmon1": {"in1_label": "VDD_GPU_SOC", "in1_input": "5000", "curr1_input": "900"}})
    found, codes = one(power_repeat(samples=parts, tegrastats=f"{agx}\n" * 90))
    assert (found["input_power_highest_w"], found["input_power_source"]) == (None, None)
    assert (found["missing"], codes) == (["input_power"], ["sensors_missing"])


def test_tegrastats_decides_whether_the_gpu_was_loaded() -> None:
    def lines(load: int) -> str:
        return "".join(LINE.format(gpu=0 if number < 5 else load, tj=60, mw=9000) + "\n" for number in range(90))

    assert one(power_repeat(tegrastats=lines(98)))[0]["gpu_load_mean"] == 0.98  # the first ten seconds are left out
    found, codes = one(power_repeat(tegrastats=lines(40)))
    assert (found["gpu_load_mean"], found["gpu_loaded"], found["partial"]) == (0.4, False, True)
    assert codes == ["partial"]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"gpu": {"cur_freq": "306000000", "load": "30"}}, "6 of 6 processors, and the GPU to 3%"),
        ({"gpu": {"cur_freq": "306000000", "load": None}}, "6 of 6 processors, and nothing tells whether the GPU was"),
    ],
)
def test_a_gpu_that_was_not_really_loaded_makes_the_load_partial(changes: dict[str, Any], what: str) -> None:
    (case,) = built(power_repeat(samples=of_load(**changes)))["cases"]
    assert case["repeats"][0]["partial"] is True
    partial = next(issue for issue in case["validity"]["issues"] if issue["code"] == "partial")
    assert partial["what"] == f"the machine was loaded in part: {what}"
    assert case["status"] == "measured"


def test_cores_that_were_not_busy_make_the_load_partial() -> None:
    two_idle = [{**one, "stat": stat(one["at_s"], idle_cores=2)} for one in of_load()]
    half = [{**one, "stat": stat(one["at_s"], busy=0.85)} for one in of_load()]
    for samples, loaded in ((two_idle, 4), (half, 0)):
        found, codes = one(power_repeat(samples=samples))
        assert (found["cores_online"], found["cores_loaded"], found["partial"]) == (6, loaded, True)
        assert codes == ["partial"]


def test_without_a_command_for_the_gpu_the_load_is_partial_and_the_option_is_named() -> None:
    idle = of_load(gpu={"cur_freq": "306000000", "load": "0"})
    (case,) = built(power_repeat(samples=idle, gpu_load=None, load=events()), case=power_case(gpu=False))["cases"]
    (issue,) = case["validity"]["issues"]
    assert issue["what"].endswith("6 of 6 processors, and no command for the GPU was given (--gpu-load)")
    assert (issue["expected"], issue["actual"]) == ("every processor and the GPU", "processors 6 of 6, GPU 0%")


@pytest.mark.parametrize(
    ("event", "what"),
    [
        ({"event": "gpu-error", "error": "No such file or directory"}, "the GPU's command could not be started"),
        (
            {"event": "gpu-end", "after_s": 12.2, "status": 1},
            "the GPU's command ended after 12 s, with status 1",
        ),
        ({"event": "gpu-end", "after_s": 40, "status": -9}, "the GPU's command ended after 40 s, by signal 9"),
    ],
)
def test_a_command_that_failed_is_a_doubt(event: dict[str, Any], what: str) -> None:
    (case,) = built(power_repeat(load=events(GPU_STARTED, event)))["cases"]
    assert [(issue["code"], issue["what"]) for issue in case["validity"]["issues"]] == [("gpu_load_failed", what)]


def test_a_command_that_ends_with_the_load_is_none() -> None:
    assert one(power_repeat(load=events(GPU_STARTED, {"event": "gpu-end", "after_s": 89.9, "status": -9})))[1] == []


def test_a_clock_that_fell_is_told_with_its_share_and_is_a_finding_and_no_doubt() -> None:
    samples = of_load()
    for second in range(0, 30):  # of which ten lie before the load counts as working
        samples[second]["gpu"] = {"cur_freq": "765000000", "load": "990"}
        samples[second]["cpus"] = {**samples[second]["cpus"], "cpu3": "1190400"}
    found, codes = one(power_repeat(samples=samples))
    assert found["gpu_clock"] == {"max_hz": 1_020_000_000, "lowest_hz": 765_000_000, "share_at_max": 0.7531}
    assert found["cpu_clock"] == {"max_hz": 1_728_000_000, "lowest_hz": 1_190_400_000, "share_at_max": 0.7531}
    assert codes == []


def test_a_machine_without_sensors_is_measured_for_what_is_there_and_says_what_is_not() -> None:
    samples = [bare_sample(float(second)) for second in range(91)]
    (case,) = built(
        power_repeat(samples=samples, sensors=BARE, gpu_load=None, load=events()), case=power_case(gpu=False)
    )["cases"]
    repeat = case["repeats"][0]
    assert (case["status"], repeat["cores_loaded"], repeat["cores_online"]) == ("measured", 2, 2)
    assert repeat["missing"] == ["input_power", "tj", "gpu_clock", "cpu_clock", "gpu_load"]
    assert {repeat[key] for key in ("input_power_highest_w", "tj_highest_c", "gpu_clock", "cpu_clock")} == {None}
    missing = next(issue for issue in case["validity"]["issues"] if issue["code"] == "sensors_missing")
    assert missing["what"] == (
        "nothing here tells the input power (no INA3221 and no tegrastats that names it), tj (no such thermal zone), "
        "the GPU's clock (no devfreq), the processors' clocks (no cpufreq) and the GPU's load (neither tegrastats nor "
        "the kernel tells it)"
    )


def test_a_load_that_ended_before_its_time_gives_no_figure() -> None:
    (case,) = built(power_repeat(exit_status=1, load_s=12.0, error="the load ended before its time"))["cases"]
    assert (case["status"], case["validity"]["verdict"]) == ("failed", "invalid")
    assert case["reason"]["sentence"] == "No repeat gave a figure: the load ended before its time."


def test_samples_that_are_torn_or_lost_are_told() -> None:
    whole = power_repeat()
    whole.files["samples"] = type(whole.files["samples"])("cases/x/r1/samples.jsonl", "0" * 64, '{"at_s": 1\n{}\n')
    assert "tool_output_unreadable" in one(whole)[1]
    assert one(power_repeat(samples=of_load()[::2]))[1] == ["samples_missing"]


def test_a_process_that_is_stuck_is_a_doubt() -> None:
    assert one(power_repeat(unkillable=True))[1] == ["load_left"]


def test_a_run_that_was_stopped_before_the_load_says_so() -> None:
    run = power_run(power_case())
    only = run.sessions[0]
    stopped = [only.events[0], {**only.events[1], "stopped_by": "signal"}]
    run.sessions[0] = RawSession(1, stopped, {}, None, None)
    result = build_result(run)
    assert validate(result) == []
    assert result["cases"][0]["status"] == "not_run"
    assert result["targets"][0]["refusal"]["code"] == "not_reached"


def test_a_repeat_that_is_missing_is_told_and_two_need_no_spread() -> None:
    assert one(power_repeat(1), power_repeat(2))[1] == []
    assert one(power_repeat(1), case=power_case(2))[1] == ["not_run"]

"""Planning a power budget: the machine itself is its target, and options that mean nothing to a suite are refused."""

from __future__ import annotations

from typing import Any

import pytest

from raw_runs import GIB
from rerig import estimate
from rerig.errors import UserError
from rerig.plan import PlanOptions, expand_plan
from rerig.plan_power import check_options
from rerig.suite import load_suite
from rerig_agent.plan_format import parse_plan

from .test_plan import AGENT, RUN_ID, TOOLS, scratch, user_file

EMPTY: dict[str, Any] = {"tools": TOOLS, "targets": [], "scratch": None}
BURN = ["/opt/burn", "--for", "120 s"]


def plan_for(probe: dict[str, Any] = EMPTY, suite: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    return expand_plan(suite or load_suite("power-budget"), probe, AGENT, PlanOptions(RUN_ID, **options))


def test_the_suite_is_as_the_post_measured() -> None:
    plan = plan_for()
    assert plan["targets"] == [{"id": "t1", "label": "this machine", "origin": "machine"}]
    (case,) = plan["cases"]
    assert case["id"] == "load-90s.t1"
    assert case["identity"] == {"kind": "power_budget", "load_s": 90, "gpu": False}
    assert case["parameters"] == {"load_s": 90, "cool_s": 30, "sample_s": 1, "gpu_load": None}
    assert (len(case["repeats"]), case["skip"]) == (1, None)


def test_its_estimate_is_the_load_and_the_time_to_cool() -> None:
    plan = plan_for(repeats=3)
    assert estimate.plan_seconds(plan) == 360
    assert estimate.plan_bytes(plan) == 0


def test_the_users_command_comes_before_the_suites() -> None:
    suite = load_suite("power-budget")
    suite["cases"][0]["gpu_load"] = ["/usr/bin/other"]
    assert plan_for(suite=suite)["cases"][0]["parameters"]["gpu_load"] == ["/usr/bin/other"]
    (case,) = plan_for(suite=suite, gpu_load=BURN)["cases"]
    assert case["parameters"]["gpu_load"] == BURN
    assert case["identity"]["gpu"] is True


def test_the_agent_takes_the_plan() -> None:
    import json

    plan = plan_for(gpu_load=BURN)
    assert parse_plan(json.dumps(plan).encode()) == plan


def test_a_place_for_a_scratch_file_is_not_used() -> None:
    """The role measure looks for one whatever the suite is."""
    assert plan_for({**EMPTY, "scratch": scratch()}) == plan_for()


def test_a_suite_may_read_files_and_load_the_machine() -> None:
    suite = load_suite("storage")
    suite["cases"] = [suite["cases"][0], load_suite("power-budget")["cases"][0]]
    plan = plan_for({**EMPTY, "targets": [user_file(GIB), user_file(GIB, path="/data/b.gguf")]}, suite)
    assert [case["id"] for case in plan["cases"]] == ["dd-8m.t1", "dd-8m.t2", "load-90s.t3"]
    assert [target["origin"] for target in plan["targets"]] == ["user", "user", "machine"]


@pytest.mark.parametrize(
    ("suite", "options", "sentence"),
    [
        ("power-budget", {"paths": True}, "The suite power-budget reads no file: leave out --path."),
        ("power-budget", {"scratch": True}, "The suite power-budget reads no file: leave out --scratch."),
        ("power-budget", {"size": True}, "The suite power-budget reads no file: leave out --size."),
        ("storage", {"gpu_load": True}, "The suite storage puts no load on the GPU: leave out --gpu-load."),
    ],
)
def test_an_option_that_means_nothing_to_the_suite_is_refused(
    suite: str, options: dict[str, bool], sentence: str
) -> None:
    check_options(load_suite(suite))
    with pytest.raises(UserError) as caught:
        check_options(load_suite(suite), **options)
    assert str(caught.value) == sentence


def test_a_plan_refuses_them_too() -> None:
    with pytest.raises(UserError, match="leave out --size"):
        plan_for(size_bytes=GIB)
    with pytest.raises(UserError, match="leave out --path"):
        plan_for({**EMPTY, "targets": [user_file()]})
    with pytest.raises(UserError, match="leave out --gpu-load"):
        plan_for({**EMPTY, "targets": [user_file()]}, load_suite("storage"), gpu_load=BURN)

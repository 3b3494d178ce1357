"""Expanding the storage suite: sizes, extents, engines, skips and seeds, on scratch files and on users' files."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raw_runs import GIB, block_classified, nfs_classified
from rerig.errors import UserError
from rerig.plan import PlanOptions, expand_plan
from rerig.suite import load_suite

MIB = 2**20
TOOLS = {"dd": {"version": "coreutils 9.1"}, "fio": {"version": "3.33", "engines": ["io_uring", "libaio", "psync"]}}
AGENT = {"version": "0.1.0", "sha256": "0" * 64}
RUN_ID = "20260301T100000Z-abc123"


def user_file(
    size_bytes: int = 8 * GIB, classified: dict[str, Any] | None = None, path: str = "/data/m.gguf"
) -> dict[str, Any]:
    return {"path": path, "evidence": {"size_bytes": size_bytes}, "classified": classified or block_classified()}


def refused(path: str = "/ram/m.gguf") -> dict[str, Any]:
    classified = {"refusal": "m.gguf is in RAM", "refusal_code": "ram"}
    return {"path": path, "evidence": {"size_bytes": None}, "classified": classified}


def scratch(**changes: Any) -> dict[str, Any]:
    room = {"free_bytes": 100 * GIB, "reserve_bytes": GIB // 4}
    return {
        "directory": "/data",
        "classified": block_classified(),
        "refusal": None,
        "writable": True,
        **room,
        **changes,
    }


def plan_for(
    *targets: dict[str, Any],
    scratch_directory: dict[str, Any] | None = None,
    tools: dict[str, Any] = TOOLS,
    **options: Any,
) -> dict[str, Any]:
    probe = {"tools": tools, "targets": list(targets), "scratch": scratch_directory}
    return expand_plan(load_suite("storage"), probe, AGENT, PlanOptions(RUN_ID, **options))


def case_of(plan: dict[str, Any], case_id: str) -> dict[str, Any]:
    return next(case for case in plan["cases"] if case["id"] == case_id)


def test_the_suite_is_as_the_posts_measured() -> None:
    plan = plan_for(scratch_directory=scratch())
    assert [case["id"] for case in plan["cases"]] == [
        "dd-8m.t1",
        "reread-250m.t1",
        "rand-64k-qd1.t1",
        "rand-64k-qd2.t1",
        "rand-64k-qd4.t1",
        "rand-128k-qd8.t1",
        "seq-1m.t1",
    ]
    assert plan["targets"][0]["scratch"] == {"directory": "/data", "bytes": 4 * GIB}


@pytest.mark.parametrize(("classified", "read_bytes"), [(block_classified(), 4 * GIB), (nfs_classified(), 2 * GIB)])
def test_dd_reads_2_gib_over_a_network_and_4_gib_from_a_disk(classified: dict[str, Any], read_bytes: int) -> None:
    case = case_of(plan_for(user_file(classified=classified)), "dd-8m.t1")
    assert case["identity"]["read_bytes"] == read_bytes
    assert case["extent"] == "first_blocks"
    assert len(case["repeats"]) == 3


def test_a_smaller_file_is_read_whole_whatever_its_size() -> None:
    case = case_of(plan_for(user_file(100 * MIB + 5)), "dd-8m.t1")
    assert case["identity"]["read_bytes"] == 100 * MIB + 5
    assert case["extent"] == "whole_file"


def test_a_cut_is_always_at_a_whole_block() -> None:
    case = case_of(plan_for(user_file(), size_bytes=100 * MIB + 5), "dd-8m.t1")
    assert case["identity"]["read_bytes"] == 96 * MIB
    assert case["extent"] == "first_blocks"


def test_a_scratch_file_is_reread_at_the_posts_exact_size() -> None:
    case = case_of(plan_for(scratch_directory=scratch()), "reread-250m.t1")
    assert case["identity"]["read_bytes"] == 253_815_318
    assert case["parameters"]["scratch_bytes"] == 253_815_318
    assert case["extent"] == "whole_file"
    assert len(case["repeats"]) == 5


def test_of_a_users_file_30_whole_blocks_are_reread() -> None:
    case = case_of(plan_for(user_file()), "reread-250m.t1")
    assert case["identity"]["read_bytes"] == 251_658_240
    assert "scratch_bytes" not in case["parameters"]
    assert case["extent"] == "first_blocks"


def test_fio_spans_whole_blocks_of_the_file() -> None:
    case = case_of(plan_for(user_file(GIB + 5)), "rand-64k-qd4.t1")
    assert case["parameters"]["span_bytes"] == GIB
    assert case["identity"]["queue_depth"] == 4
    assert case["parameters"]["runtime_limit_s"] == 8


def test_without_fio_its_cases_are_skipped_with_the_command_that_installs_it() -> None:
    plan = plan_for(user_file(), tools={**TOOLS, "fio": None})
    skipped = [case for case in plan["cases"] if case["identity"]["kind"] == "fio_read"]
    assert len(skipped) == 5
    for case in skipped:
        assert case["skip"]["code"] == "fio_missing"
        assert "apt-get install fio" in case["skip"]["sentence"]
    assert case_of(plan, "dd-8m.t1")["skip"] is None


def test_libaio_stands_in_where_io_uring_is_forbidden() -> None:
    plan = plan_for(user_file(), tools={**TOOLS, "fio": {"version": "3.1", "engines": ["libaio", "psync"]}})
    assert case_of(plan, "rand-64k-qd1.t1")["identity"]["engine"] == "libaio"


def test_an_engine_that_ignores_the_depth_is_never_taken() -> None:
    plan = plan_for(user_file(), tools={**TOOLS, "fio": {"version": "3.1", "engines": ["psync"]}})
    assert case_of(plan, "rand-64k-qd2.t1")["skip"]["code"] == "no_engine"


def test_a_file_shorter_than_a_block_skips_that_case_only() -> None:
    plan = plan_for(user_file(100_000))
    assert case_of(plan, "seq-1m.t1")["skip"]["code"] == "file_too_short"
    assert case_of(plan, "rand-64k-qd1.t1")["skip"] is None


def test_a_refused_file_keeps_its_place_and_has_no_cases() -> None:
    plan = plan_for(refused(), user_file())
    assert [target["id"] for target in plan["targets"]] == ["t1", "t2"]
    assert {case["target"] for case in plan["cases"]} == {"t2"}


def test_cases_of_several_files_alternate() -> None:
    plan = plan_for(user_file(), user_file(path="/mnt/m.gguf"))
    assert [case["id"] for case in plan["cases"][:4]] == ["dd-8m.t1", "dd-8m.t2", "reread-250m.t1", "reread-250m.t2"]


def test_every_repeat_of_every_case_has_its_own_seed() -> None:
    plan = plan_for(user_file(), user_file(path="/mnt/m.gguf"))
    seeds = [repeat["seed"] for case in plan["cases"] for repeat in case["repeats"]]
    assert len(set(seeds)) == len(seeds)
    assert plan == plan_for(user_file(), user_file(path="/mnt/m.gguf"))


def test_repeats_and_size_are_the_users() -> None:
    plan = plan_for(scratch_directory=scratch(), size_bytes=64 * MIB, repeats=2)
    assert plan["targets"][0]["scratch"]["bytes"] == 64 * MIB
    assert all(len(case["repeats"]) == 2 for case in plan["cases"])
    assert all(case["estimate_bytes"] <= 64 * MIB for case in plan["cases"])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"refusal": {"code": "ram", "sentence": "it is in RAM"}}, "it is in RAM"),
        ({"writable": False}, "may not write"),
        ({"free_bytes": 4 * GIB}, r"need 4.49 GiB of free space and there are 4 GiB: choose a smaller --size"),
    ],
)
def test_a_useless_scratch_directory_is_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        plan_for(scratch_directory=scratch(**changes))


def test_a_link_is_planned_as_the_file_behind_it_under_its_own_name() -> None:
    seen = user_file(path="/models/link")
    seen["evidence"]["real_path"] = "/data/m.gguf"
    assert plan_for(seen)["targets"][0] == {"id": "t1", "label": "link", "origin": "user", "path": "/data/m.gguf"}


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "\udcff.gguf", "a\u202eb", "한글 모델.gguf", "-rf", "  ", "", "/"])
def test_any_file_name_becomes_a_printable_label(name: str) -> None:
    label = plan_for(user_file(path="/data/" + name))["targets"][0]["label"]
    assert label.isprintable()
    assert label
    assert "/" not in label
    assert plan_for(user_file(path="/data/" + name))["targets"][0]["path"] == "/data/" + name


@pytest.mark.parametrize("evict", [True, False, None])
def test_an_eviction_is_part_of_every_kinds_identity_and_of_what_the_agent_is_told(evict: bool | None) -> None:
    suite = load_suite("storage")
    for case in suite["cases"]:
        case.pop("evict", None)
        if evict is not None:
            case["evict"] = evict
    plan = expand_plan(suite, {"tools": TOOLS, "targets": [user_file()], "scratch": None}, AGENT, PlanOptions(RUN_ID))
    assert {case["identity"]["kind"] for case in plan["cases"]} == {"dd_read", "dd_reread", "fio_read"}
    for case in plan["cases"]:
        assert case["identity"]["evict"] is case["parameters"]["evict"] is bool(evict)


def test_a_read_ahead_is_part_of_the_identity_and_of_what_the_agent_is_told_only_where_it_is_set() -> None:
    suite = load_suite("storage")
    suite["cases"] = [suite["cases"][0], {**suite["cases"][0], "name": "ahead", "direct": False, "read_ahead_kb": 0}]
    plan = expand_plan(suite, {"tools": TOOLS, "targets": [user_file()], "scratch": None}, AGENT, PlanOptions(RUN_ID))
    plain, ahead = plan["cases"]
    assert "read_ahead_kb" not in {**plain["identity"], **plain["parameters"]}
    assert ahead["identity"] == {**plain["identity"], "direct": False, "read_ahead_kb": 0}
    assert ahead["parameters"] == {"evict": False, "read_ahead_kb": 0}


@given(st.integers(1, 2**44), st.one_of(st.none(), st.integers(2**20, 2**44)))
def test_no_plan_reads_past_the_end_or_cuts_a_block(size_bytes: int, limit: int | None) -> None:
    plan = plan_for(user_file(size_bytes), size_bytes=limit)
    for case in plan["cases"]:
        identity = case["identity"]
        if identity["kind"] == "fio_read":
            span = case["parameters"]["span_bytes"]
            assert span % identity["block_bytes"] == 0
            assert span <= size_bytes
            assert (span == 0) == (case["skip"] is not None)
        elif case["extent"] == "first_blocks":
            assert identity["read_bytes"] % identity["block_bytes"] == 0
            assert identity["read_bytes"] > 0
        else:
            assert identity["read_bytes"] == size_bytes
        assert case["limit_s"] > case["estimate_s"]

"""The argv of every kind of case, to the letter."""

from __future__ import annotations

from typing import Any

import pytest

from rerig_agent.cases import build_argv
from rerig_agent.cases.dd_read import dd_size
from rerig_agent.cases.fio_read import needs_alias


def dd_case(extent: str, direct: bool = True, read_bytes: int = 2147483648) -> dict[str, Any]:
    identity = {"kind": "dd_read", "direct": direct, "block_bytes": 8388608, "read_bytes": read_bytes}
    return {"id": "dd-8m.t1", "identity": identity, "extent": extent, "parameters": {}}


def fio_case(pattern: str = "random") -> dict[str, Any]:
    identity = {
        "kind": "fio_read",
        "direct": True,
        "block_bytes": 65536,
        "pattern": pattern,
        "queue_depth": 4,
        "engine": "io_uring",
    }
    return {"id": "rand.t1", "identity": identity, "parameters": {"span_bytes": 131072, "runtime_limit_s": 8}}


def test_dd_reads_the_whole_file_as_the_post_did() -> None:
    argv = build_argv(dd_case("whole_file"), {"number": 1}, "/data/a b.safetensors")
    assert argv == ["dd", "if=/data/a b.safetensors", "of=/dev/null", "bs=8M", "iflag=direct"]


def test_dd_counts_whole_blocks_of_a_larger_file() -> None:
    argv = build_argv(dd_case("first_blocks"), {"number": 1}, "/data/-a")
    assert argv == ["dd", "if=/data/-a", "of=/dev/null", "bs=8M", "count=256", "iflag=direct"]


def test_dd_without_o_direct_has_no_flag() -> None:
    assert "iflag=direct" not in build_argv(dd_case("whole_file", direct=False), {"number": 1}, "/a")


@pytest.mark.parametrize(("size_bytes", "text"), [(8388608, "8M"), (65536, "64k"), (1000, "1000"), (512, "512")])
def test_block_sizes_are_written_for_gnu_and_busybox(size_bytes: int, text: str) -> None:
    assert dd_size(size_bytes) == text


@pytest.mark.parametrize(("pattern", "rw"), [("random", "randread"), ("sequential", "read")])
def test_fio_is_read_only_bounded_and_seeded(pattern: str, rw: str) -> None:
    argv = build_argv(fio_case(pattern), {"number": 2, "seed": 77}, "/data/model:v1.gguf")
    assert argv == [
        "fio",
        "--name=rand.t1",
        "--readonly",
        "--allow_file_create=0",
        "--filename=/data/model\\:v1.gguf",
        "--rw=" + rw,
        "--bs=65536",
        "--iodepth=4",
        "--ioengine=io_uring",
        "--direct=1",
        "--size=131072",
        "--runtime=8",
        "--randseed=77",
        "--invalidate=0",
        "--numjobs=1",
        "--thread",
        "--output-format=json",
        "--output=fio.json",
    ]


@pytest.mark.parametrize("name", ["a b", "한글.gguf", "a:b", "a,b", "-a", "x" * 255, "a=b", "a(1)", "a[2]", "a+b~c"])
def test_ordinary_names_reach_fio_as_they_are(name: str) -> None:
    assert not needs_alias("/data/" + name)


@pytest.mark.parametrize(
    "name",
    ["a ", " a\n", "a\nb", "a\\b", "a\\:b", "it's", 'say "hi"', "$ncpus", "a;b", "a#b", "a\tb", "a\udcffb", "a|b"],
)
def test_names_that_fio_would_change_go_through_a_link(name: str) -> None:
    assert needs_alias("/data/" + name)
    argv = build_argv(fio_case(), {"number": 1, "seed": 1}, "/data/" + name)
    assert "--filename=target" in argv

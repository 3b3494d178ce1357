"""What NFS mounts have counted, of old and new kernels."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError
from rerig_agent.parse.mountstats import (
    BYTE_FIELDS,
    OPERATION_FIELDS,
    parse_bytes_line,
    parse_mountstats,
    split_mountstats,
)

FOLDER = "mountstats"
NFS = "device s:/x mounted on /m with fstype nfs4 statvers=1.1\n"


def test_a_case_is_read_right(case: Any, agree: Callable[[Any, Any], None]) -> None:
    if case.right.get("refused"):
        with pytest.raises(ParseError):
            parse_mountstats(case.text)
    else:
        agree(parse_mountstats(case.text), case.right["gives"])


def has_blocks(function: Any) -> Any:
    function.needs = "blocks"
    return function


@has_blocks
def test_a_case_is_split_right(case: Any) -> None:
    blocks = split_mountstats(case.text)
    assert {place: blocks[place] for place in case.right["blocks"]} == case.right["blocks"]


@has_blocks
def test_a_block_alone_gives_what_the_whole_gives(case: Any) -> None:
    whole = {device["mount_point"]: device for device in parse_mountstats(case.text)}
    for place, block in split_mountstats(case.text).items():
        assert parse_mountstats(block) == [whole[place]]


def test_a_local_transport_has_no_port() -> None:
    transport = parse_mountstats(NFS + "\txprt:\tlocal 1 2 3 4 55 66 7 8 9 64 0 0\n")[0]["transport"][0]
    assert "port" not in transport
    assert (transport["sends"], transport["receives"]) == (55, 66)


def test_of_two_mounts_on_one_place_the_later_block_counts() -> None:
    text = "device systemd-1 mounted on /m with fstype autofs\n" + NFS + "\tage:\t1\n"
    assert split_mountstats(text) == {"/m": NFS + "\tage:\t1\n"}


def test_splitting_text_without_a_device_is_refused() -> None:
    with pytest.raises(ParseError):
        split_mountstats("\tage: 1\n")


def test_real_counters_of_rpc_iostats_1_0_are_read(sample: Callable[[str], str]) -> None:
    text = sample("mountstats_nfs40_statvers11.txt")
    nfs = parse_mountstats(text)[-1]
    assert nfs["bytes"] == dict(zip(BYTE_FIELDS, (1207640230, 0, 0, 0, 1210214218, 0, 295483, 0)))
    read = nfs["operations"]["READ"]
    assert (read["ops"], read["bytes_received"]) == (1298, 1210292152)
    assert (read["queue_ms"], read["rtt_ms"], read["execute_ms"], read["errors"]) == (6, 79386, 79407, None)
    assert read["rtt_ms"] / read["ops"] == pytest.approx(61.2, abs=0.05)
    assert round(read["bytes_received"] / read["ops"]) == 932428
    assert nfs["operations"]["ACCESS"]["queue_ms"] == 18446743919241604546 - 2**64
    assert list(split_mountstats(text)) == ["/", "/sys", "/proc", "/mnt/nfs/test"]


def test_real_counters_of_a_kubelet_volume_are_read(sample: Callable[[str], str]) -> None:
    nfs = parse_mountstats(sample("mountstats_nfs4_kubelet_volume.txt"))[0]
    assert "kubernetes.io~nfs" in nfs["mount_point"]
    assert nfs["age_s"] == 83520
    assert "rsize=131072" in nfs["options"]
    assert nfs["bytes"]["server_read"] == 1788561151
    assert nfs["operations"]["LOOKUP"]["errors"] == 3546
    assert nfs["operations"]["OPEN"]["ops"] == 12637
    assert len(nfs["operations"]) == 63


def test_real_counters_over_rdma_are_read(sample: Callable[[str], str]) -> None:
    nfs = parse_mountstats(sample("mountstats_nfs3_rdma.txt"))[0]
    counted = nfs["bytes"]
    assert counted["normal_read"] == 3104202770327296
    assert counted["server_read"] == 2013200952170479
    assert counted["server_read"] / counted["normal_read"] == pytest.approx(0.649, abs=0.0006)
    assert [transport["protocol"] for transport in nfs["transport"]] == ["rdma"]
    assert len(nfs["transport"][0]["values"]) == 27
    assert nfs["operations"]["NULL"]["execute_ms"] == 331


def test_a_real_bytes_line_is_read(sample: Callable[[str], str]) -> None:
    assert parse_bytes_line(sample("mountstats_bytes_line_cks.txt")) == {
        "normal_read": 2320629391,
        "normal_write": 2297630544,
        "direct_read": 0,
        "direct_write": 0,
        "server_read": 2298347151,
        "server_write": 2297630544,
        "read_pages": 718354,
        "write_pages": 717816,
    }


@pytest.mark.parametrize("parser", [parse_mountstats, split_mountstats, parse_bytes_line])
@given(
    st.one_of(
        st.text(),
        st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")),
        st.text("0123456789 -:\tbytesREADxprtage\n").map(lambda text: NFS + text),
        st.text("0123456789 -:\tbytesREADxprtage\n").map(lambda text: NFS + "\tper-op statistics\n" + text),
    )
)
@example(NFS + "\tbytes: " + "9" * 5000 + " 1 1 1 1 1 1 1")
@example(NFS + "\tage: 1_0")
@example(NFS + "\txprt:")
@example(NFS + "\tper-op statistics\n\tREAD: " + "9" * 5000)
def test_any_text_is_read_or_refused(parser: Callable[[str], Any], text: str) -> None:
    try:
        parser(text)
    except ParseError:
        return


COUNTER = st.integers(0, 2**63 - 1)


@given(
    st.lists(COUNTER, min_size=8, max_size=8),
    st.dictionaries(
        st.from_regex("[A-Z_]{2,12}", fullmatch=True), st.lists(COUNTER, min_size=8, max_size=9), max_size=4
    ),
)
def test_written_counters_read_back(sizes: list[int], operations: dict[str, list[int]]) -> None:
    lines = [f"\t{name:>12}: {' '.join(map(str, values))}" for name, values in operations.items()]
    text = NFS + "\tbytes:\t" + " ".join(map(str, sizes)) + "\n\tper-op statistics\n" + "\n".join(lines) + "\n\n"
    (nfs,) = parse_mountstats(text)
    assert nfs["bytes"] == dict(zip(BYTE_FIELDS, sizes))
    assert {name: [counters[field] for field in OPERATION_FIELDS] for name, counters in nfs["operations"].items()} == {
        name: [*values, None][:9] for name, values in operations.items()
    }


@given(st.integers(-(2**63), -1))
def test_a_time_below_zero_is_no_huge_time(value: int) -> None:
    text = NFS + f"\tper-op statistics\n\tREAD: 1 1 0 1 1 {value + 2**64} 1 1\n"
    assert parse_mountstats(text)[0]["operations"]["READ"]["queue_ms"] == value


@pytest.mark.parametrize("part", ["device ", "1 ", "device x mounted on ", "\t", " with fstype "])
def test_a_megabyte_of_one_line_is_no_device(part: str) -> None:
    line = part * (1_000_000 // len(part))
    with pytest.raises(ParseError):
        parse_mountstats(line)
    assert len(parse_mountstats(NFS + line)) == 1

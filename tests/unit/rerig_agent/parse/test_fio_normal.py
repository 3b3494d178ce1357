"""fio's reports for people; the cases are with those of JSON, in test_fio."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError
from rerig_agent.parse.fio import achieved_depth, fio_errors, parse_normal

HEAD = "j: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=4\n"
JOB = "j: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 30 12:00:00 2026\n"
SIDE = "  read: IOPS={}, BW={}/s ({})({}/{}msec)\n"
ISSUED = "     issued rwts: total={},0,0,0 short=1,0,0,0 dropped=2,0,0,0\n"


def text_of(iops: str = "100", rate: str = "400KiB", moved: str = "400KiB", ms: int = 1000, ios: int = 100) -> str:
    return "fio-3.33\n" + JOB + SIDE.format(iops, rate, "410kB/s", moved, ms) + ISSUED.format(ios)


def read_of(text: str) -> Any:
    return parse_normal(text)["jobs"][0]["read"]


def test_a_real_report_of_2_2_is_read(sample: Callable[[str], str]) -> None:
    found = parse_normal(sample("fio_2.2.10_normal_text.txt"))
    (job,) = found["jobs"]
    assert (found["version"], found["major"]) == ("2.2.10", 2)
    assert (job["name"], job["engine"], job["asked_depth"]) == ("ceph-erasure-2-1", "libaio", 32)
    read = job["read"]
    assert (read["iops"], read["bandwidth_bytes_per_s"], read["ios"]) == (16116, 66_013_184, 967045)
    assert read["duration_s"] == 60.003
    assert read["bytes"] == pytest.approx(967045 * 4096, rel=1e-4)
    assert read["completion_latency_mean_s"] == pytest.approx(1929.49e-6)
    assert read["latency_mean_s"] == pytest.approx(1982.19e-6)
    assert read["latency_percentiles_s"]["99.990000"] == pytest.approx(10432e-6)
    assert job["depth_levels"]["32"] == 100.0
    assert achieved_depth(job) == pytest.approx(32, rel=0.01)
    assert (read["short_ios"], read["dropped_ios"]) == (0, 0)


@pytest.mark.parametrize(
    ("printed", "size"),
    [
        ("64.0MiB", 64 << 20),
        ("512KiB", 512 << 10),
        ("67.1MB", 67_100_000),
        ("1.5GiB", 3 << 29),
        ("4096B", 4096),
        ("8Mi", 8 << 20),
    ],
)
def test_amounts_are_in_the_unit_that_is_printed(printed: str, size: int) -> None:
    assert read_of(text_of(moved=printed))["bytes"] == size
    assert read_of(text_of(rate=printed))["bandwidth_bytes_per_s"] == size


def test_bits_are_bytes_in_eighths() -> None:
    assert read_of(text_of(rate="8Mib"))["bandwidth_bytes_per_s"] == 1 << 20
    assert read_of(text_of(rate="8Mbit"))["bandwidth_bytes_per_s"] == 1_000_000


def test_one_block_size_and_many_ios_give_exact_numbers() -> None:
    read = read_of(HEAD + text_of("13.6k", "50.2MiB", "51.6MiB", 1001, 13069))
    assert read["bytes"] == 13069 * 4096
    assert read["iops"] == pytest.approx(13069 / 1.001)
    assert read["bandwidth_bytes_per_s"] == pytest.approx(13069 * 4096 / 1.001)


@pytest.mark.parametrize(
    "head",
    ["", HEAD.replace("(R) 4096B-4096B", "(R) 4096B-8192B"), HEAD.replace("(R) 4096B-4096B", "(R) 64.0KiB-64.0KiB")],
    ids=["no block size", "two block sizes", "a block size that does not fit"],
)
def test_else_numbers_are_as_printed(head: str) -> None:
    read = read_of(head + text_of("13.6k", "50.2MiB", "51.6MiB", 1001, 13069))
    assert (read["iops"], read["bandwidth_bytes_per_s"]) == (13600, round(50.2 * (1 << 20)))


def test_few_ios_leave_numbers_as_printed() -> None:
    assert read_of(HEAD + text_of(moved="395KiB", ios=100))["bytes"] == 395 * 1024


def test_short_and_dropped_are_counted() -> None:
    read = read_of(text_of())
    assert (read["ios"], read["short_ios"], read["dropped_ios"]) == (100, 1, 2)


@pytest.mark.parametrize(("unit", "factor"), [("nsec", 1e-9), ("usec", 1e-6), ("msec", 1e-3), ("sec", 1.0)])
def test_latencies_are_in_seconds(unit: str, factor: float) -> None:
    lines = f"     lat ({unit}): min=1, max=9, avg= 4.50, stdev= 1.00\n"
    lines += f"    clat ({unit}): min=1, max=9, avg=3.50, stdev= 1.00\n"
    lines += f"    clat percentiles ({unit}):\n     |  1.00th=[    2], 99.00th=[    8],\n     | 99.90th=[    9]\n"
    read = read_of(text_of() + lines)
    assert read["latency_mean_s"] == pytest.approx(4.5 * factor)
    assert read["completion_latency_mean_s"] == pytest.approx(3.5 * factor)
    assert read["latency_percentiles_s"] == {
        "1.000000": pytest.approx(2 * factor),
        "99.000000": pytest.approx(8 * factor),
        "99.900000": pytest.approx(9 * factor),
    }


def test_percentiles_of_other_latencies_are_left_out() -> None:
    lines = (
        "    slat percentiles (usec):\n     | 50.00th=[    2]\n    clat percentiles (usec):\n     | 50.00th=[    3]\n"
    )
    lines += (
        "     lat percentiles (usec):\n     | 50.00th=[    4]\n    sync percentiles (usec):\n     | 50.00th=[    5]\n"
    )
    assert read_of(text_of() + lines)["latency_percentiles_s"] == {"50.000000": pytest.approx(3e-6)}


def test_labels_that_a_client_rounded_alike_are_left_out() -> None:
    lines = "    clat percentiles (usec):\n     |  50th=[    3], 100th=[    4], 100th=[    5], 100th=[    6]\n"
    assert read_of(text_of() + lines)["latency_percentiles_s"] == {"50.000000": pytest.approx(3e-6)}


def test_a_trims_latency_is_not_the_reads() -> None:
    trim = "  trim: IOPS=1, BW=1B/s (1B/s)(1B/1msec)\n     lat (usec): min=1, max=9, avg= 4.50, stdev= 1.00\n"
    (job,) = parse_normal(text_of() + trim)["jobs"]
    assert job["read"]["latency_mean_s"] is None
    assert "trim" not in job


def test_a_mixed_direction_is_kept_apart() -> None:
    (job,) = parse_normal(text_of().replace("  read:", "  mixed:"))["jobs"]
    assert (job["read"]["bytes"], job["mixed"]["bytes"], job["mixed"]["ios"]) == (0, 400 * 1024, 100)


def test_the_last_complete_report_counts() -> None:
    end = "\nRun status group 0 (all jobs):\n   READ: bw=1MiB/s\n\nDisk stats (read/write):\n"
    end += "  vda: ios={}/0, merge=0/0, ticks=1/0, in_queue=1, util=50.00%\n"
    text = text_of(ios=1) + end.format(1) + text_of(ios=2) + end.format(2)
    for whole in (text, text + text_of(ios=3)):
        found = parse_normal(whole)
        assert [job["read"]["ios"] for job in found["jobs"]] == [2]
        assert [disk["read_ios"] for disk in found["disk_util"]] == [2]
    assert parse_normal(text_of(ios=3))["jobs"][0]["read"]["ios"] == 3


def test_a_job_that_failed_is_an_error() -> None:
    head = JOB.replace("err= 0", "err=22 (file:io_u.c:1896, func=io_u error, error=Invalid argument)")
    found = parse_normal("fio-3.36\n" + head + "  cpu          : usr=0.00%\n")
    assert found["jobs"][0]["error"] == 22
    assert found["errors"] == fio_errors(head) == [head.strip()]


def test_a_names_brackets_and_colons_are_kept() -> None:
    assert parse_normal(text_of().replace("j: (", "a: (b) <c>: ("))["jobs"][0]["name"] == "a: (b) <c>"


@pytest.mark.parametrize(
    "text", ["", "fio-3.33\n", HEAD, JOB + "  read: IOPS=1, BW=x\n", JOB.replace("j: ", "All clients: ")]
)
def test_what_is_no_text_report_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_normal(text)


PIECES = [JOB, HEAD, "  read: IOPS=", "BW=", "(1MiB/1msec)", "     lat (usec): min=1, avg=", " |", "Run status group 0"]


@given(
    st.one_of(
        st.text(), st.lists(st.one_of(st.sampled_from(PIECES), st.text("0123456789.,=\n[]", max_size=5))).map("".join)
    )
)
@example(JOB + "  read: IOPS=1, BW=1MiB/s (1)(1MiB/" + "9" * 5000 + "msec)")
@example(JOB + "  read: IOPS=" + "9" * 400 + ", BW=1MiB/s (1)(1MiB/1msec)")
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_normal(text)
    except ParseError:
        return


HOSTILE = [
    "<",
    "<a> ",
    "Jobs: ",
    "Jobs: 1 (f=1): ",
    ": (g=",
    ": ios=",
    "(1MiB/",
    " |",
    "io=1KB, ",
    "1.00th=[ 1], ",
    " ",
]


@pytest.mark.parametrize("part", HOSTILE)
def test_a_megabyte_of_one_line_is_passed_over(part: str) -> None:
    line = part * (1_000_000 // len(part))
    assert len(parse_normal(f"{line}\n{text_of()}{line}\n")["jobs"]) == 1


@pytest.mark.parametrize("part", HOSTILE)
def test_many_long_lines_are_passed_over(part: str) -> None:
    line = part * (3900 // len(part)) + "\n"
    assert len(parse_normal(text_of() + line * 300)["jobs"]) == 1

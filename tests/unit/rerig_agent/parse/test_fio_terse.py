"""fio's semicolon-separated reports; the cases are with those of JSON, in test_fio."""

from __future__ import annotations

from typing import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError
from rerig_agent.parse.fio import parse_terse

SIDE = ["1024", "2048", "16", "500", *["0"] * 8, "50.000000%=120", *["0%=0"] * 19, *["0"] * 2, "125.5", "0", *["0"] * 5]
TAIL = ["1.0%", "2.0%", "3", "4", "5", *["0.0%"] * 6, "100.0%", *["0.00%"] * 22]


def line(version: int, sides: int, head: str = "fio-3.33;job;0;0", rest: str = "") -> str:
    side = SIDE + ["0"] * (6 if version == 5 else 0)
    return ";".join([str(version), head, *side * sides, *TAIL]) + rest


def test_the_made_line_has_fios_number_of_fields() -> None:
    assert len(line(3, 2).split(";")) == 121
    assert len(line(2, 3, "job;0;0").split(";")) == 161
    assert len(line(5, 3).split(";")) == 180


def test_a_real_report_of_two_jobs_is_read(sample: Callable[[str], str]) -> None:
    found = parse_terse(sample("fio_2.1.2_terse_v3.txt"))
    assert (found["version"], found["major"], len(found["jobs"])) == ("2.1.2", 2, 2)
    job = found["jobs"][0]
    assert (job["name"], job["group"], job["error"]) == ("test-multi-file-io-4", 0, 0)
    read, write = job["read"], job["write"]
    assert (read["bytes"], read["bandwidth_bytes_per_s"]) == (52392 * 1024, 5208 * 1024)
    assert (read["iops"], read["duration_s"]) == (651, 10.058)
    assert (write["bytes"], write["bandwidth_bytes_per_s"], write["iops"]) == (13080 * 1024, 1300 * 1024, 162)
    assert read["completion_latency_mean_s"] == pytest.approx(4610.434417e-6)
    assert read["latency_mean_s"] == pytest.approx(4632.42266e-6)
    assert read["latency_percentiles_s"]["99.990000"] == pytest.approx(514048e-6)
    assert found["disk_util"][0]["name"] == "vda"
    assert found["disk_util"][0]["utilization_percent"] == 99.12


@pytest.mark.parametrize(("version", "sides"), [(2, 2), (2, 3), (3, 2), (4, 3), (5, 3), (3, 3)])
def test_every_number_of_directions_is_understood(version: int, sides: int) -> None:
    head = "job;0;0" if version == 2 else "fio-3.33;job;0;0"
    (job,) = parse_terse(line(version, sides, head))["jobs"]
    assert job["read"]["bytes"] == job["write"]["bytes"] == 1 << 20
    assert job["read"]["latency_mean_s"] == pytest.approx(125.5e-6)
    assert job["read"]["latency_percentiles_s"] == {"50.000000": pytest.approx(120e-6)}
    assert job["depth_levels"][">=64"] == 100.0


def test_one_direction_is_a_mixed_one() -> None:
    (job,) = parse_terse(line(3, 1))["jobs"]
    assert (job["read"]["bytes"], job["mixed"]["bytes"]) == (0, 1 << 20)


def test_disks_and_errors_and_a_description_follow() -> None:
    disks = ";sda;1;2;3;4;5;6;7;8.00%;dm-0;1;2;3;4;5;6;7;-nan%"
    found = parse_terse(line(3, 2, rest=disks + ";4;5;a description; of two parts"))
    assert [disk["name"] for disk in found["disk_util"]] == ["sda", "dm-0"]
    assert [disk["utilization_percent"] for disk in found["disk_util"]] == [8.0, None]
    assert found["jobs"][0]["total_errors"] == 4


def test_an_empty_description_of_version_2_is_no_disk() -> None:
    disks = ";sda;1;2;3;4;5;6;7;8.00%"
    assert len(parse_terse(line(3, 2, rest=disks) + "\n;\n")["disk_util"]) == 1


def test_a_line_glued_to_progress_is_found() -> None:
    for front in ("Jobs: 0 (f=0)", "Jobs: 1 (f=1): [r(1)][eta 00m:00s]", "fio: a line\n", "\r"):
        assert len(parse_terse(front + line(3, 2))["jobs"]) == 1


def test_errors_around_the_lines_are_found() -> None:
    trouble = "fio: pid=1, err=5/file:io_u.c:1, func=io_u error, error=Input/output error"
    assert parse_terse(f"{trouble}\n{line(3, 2)}\n")["errors"] == [trouble]


@pytest.mark.parametrize(
    "text",
    ["", "3;fio-3.33;job;0;0;1;2;3", line(3, 2)[:-200], line(3, 2).replace(";1024;", ";-1;"), "6" + line(3, 2)[1:]],
    ids=["nothing", "head", "cut", "negative", "unknown version"],
)
def test_what_is_no_terse_report_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_terse(text)


@given(st.one_of(st.text(), st.from_regex(r"([2-5];|[0-9;%=.a-]|\n){0,200}", fullmatch=True)))
@example(line(3, 2).replace("1024", "9" * 5000))
@example(line(3, 2).replace("100.0%", "x%"))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_terse(text)
    except ParseError:
        return


@given(st.integers(0, 10**15), st.integers(0, 10**12), st.integers(0, 10**9), st.text("abc ;x", min_size=1, max_size=8))
def test_a_written_line_reads_back(kib: int, rate: int, iops: int, name: str) -> None:
    text = line(3, 2, f"fio-3.33;{name};1;0").replace("1024;2048;16;500", f"{kib};{rate};{iops};0")
    (job,) = parse_terse(text)["jobs"]
    assert (job["name"], job["group"]) == (name, 1)
    assert (job["read"]["bytes"], job["read"]["bandwidth_bytes_per_s"]) == (kib * 1024, rate * 1024)
    assert (job["read"]["iops"], job["read"]["duration_s"]) == (iops, 0)


@pytest.mark.parametrize("part", ["3;", ")3;", "%3;", ";", "3;fio-3;x;0;0;"])
def test_a_megabyte_of_one_line_is_refused(part: str) -> None:
    with pytest.raises(ParseError):
        parse_terse(part * (1_000_000 // len(part)))

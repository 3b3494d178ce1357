"""fio's JSON reports, real and mangled, and the questions about queue depth."""

from __future__ import annotations

import json
from typing import Any, Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError, fio
from rerig_agent.parse.fio import achieved_depth, depth_share, fio_errors, parse_fio

FOLDER = "fio"
MIB = 1 << 20


def report(**changes: Any) -> dict[str, Any]:
    """A report of fio 3.x with one job that read 1 MiB in half a second."""
    latency = {"min": 90, "max": 200, "mean": 100.0, "stddev": 1.0, "N": 16}
    side = {
        "io_bytes": MIB,
        "io_kbytes": 1024,
        "bw_bytes": 2 * MIB,
        "bw": 2048,
        "iops": 32.0,
        "runtime": 500,
        "total_ios": 16,
        "short_ios": 0,
        "drop_ios": 0,
        "clat_ns": {**latency, "percentile": {"50.000000": 95, "99.000000": 180}},
        "lat_ns": latency,
    }
    job = {
        "jobname": "j",
        "groupid": 0,
        "error": 0,
        "job options": {"iodepth": "4"},
        "read": side,
        "write": {**side, "io_bytes": 0, "total_ios": 0},
        "iodepth_level": {"1": 0.0, "2": 0.0, "4": 100.0, "8": 0.0, "16": 0.0, "32": 0.0, ">=64": 0.0},
    }
    return {"fio version": "fio-3.33", "jobs": [job], "disk_util": [], **changes}


def job_with(**changes: Any) -> dict[str, Any]:
    whole = report()
    whole["jobs"][0].update(changes)
    return whole


def read_with(**changes: Any) -> dict[str, Any]:
    whole = report()
    whole["jobs"][0]["read"].update(changes)
    return whole


def parsed_job(whole: dict[str, Any]) -> dict[str, Any]:
    return parse_fio(json.dumps(whole, indent=2))["jobs"][0]


def test_a_case_is_read_right(case: Any, agree: Callable[[Any, Any], None]) -> None:
    parser = getattr(fio, case.right["parser"])
    if case.right.get("refused"):
        with pytest.raises(ParseError):
            parser(case.text)
    else:
        agree(parser(case.text), case.right["gives"])


def test_every_job_has_every_key(case: Any) -> None:
    if case.right.get("refused"):
        return
    known = parse_fio(json.dumps(report()))
    found = getattr(fio, case.right["parser"])(case.text)
    assert found.keys() == known.keys()
    for job in found["jobs"]:
        assert job.keys() == known["jobs"][0].keys()
        for side in filter(None, (job["read"], job["write"], job["mixed"])):
            assert side.keys() == known["jobs"][0]["read"].keys()


def test_a_real_report_of_2_1_counts_kib(sample: Callable[[str], str]) -> None:
    found = parse_fio(sample("fio_2.1.4_multijob.json"))
    assert (found["version"], found["major"]) == ("2.1.4", 2)
    jobs = {job["name"]: job["read"] for job in found["jobs"]}
    assert len(jobs) == 5
    read = jobs["sequential_read"]
    assert (read["bytes"], read["bandwidth_bytes_per_s"]) == (361984 * 1024, 132_952_064)
    assert (read["iops"], read["duration_s"]) == (253, 2.788)
    assert read["latency_mean_s"] == pytest.approx(0.25077005)
    assert set(read["latency_percentiles_s"]) >= {"50.000000", "99.990000"}
    assert "0.000000" not in read["latency_percentiles_s"]
    read = jobs["random_read_test"]
    assert (read["bytes"], read["bandwidth_bytes_per_s"], read["iops"]) == (36244 * 1024, 1269 * 1024, 317)


def test_a_real_report_of_2_17_counts_kib_too(sample: Callable[[str], str]) -> None:
    read = parse_fio(sample("fio_2.17_kib_iobytes.json"))["jobs"][0]["read"]
    assert read["bytes"] == 1_325_318_144 == read["ios"] * 16384
    assert (read["bandwidth_bytes_per_s"], read["duration_s"]) == (132_491_264, 10.003)
    assert read["iops"] == pytest.approx(8086.673998)


def test_the_sum_of_real_clients_is_kept_apart(sample: Callable[[str], str]) -> None:
    found = parse_fio(sample("fio_3.7_clientserver_leading_eta.txt"))
    (job,) = found["jobs"]
    assert (job["read"]["bytes"], job["read"]["bandwidth_bytes_per_s"]) == (488_804_352, 32_576_098)
    assert (job["read"]["iops"], job["read"]["duration_s"]) == (7951.016328, 15.005)
    assert found["totals_job"] == found["totals"]["name"] == "All clients"
    assert found["totals"]["read"]["bytes"] == 5_740_351_488
    assert found["totals"]["read"]["bandwidth_bytes_per_s"] == 381_824_630
    assert found["totals"]["read"]["iops"] == 93198.150858
    # Shares of two clients add up to 165.8 %.
    assert achieved_depth(found["totals"]) == pytest.approx(31.92, abs=0.01)
    assert depth_share(found["totals"], 32) == pytest.approx(0.997, abs=0.001)
    assert "Jobs: 10 (f=10)" in found["log"]
    assert found["errors"] == []
    assert len(found["disk_util"]) == 4


@pytest.mark.parametrize(
    ("name", "count"), [("fio_3.12_io_error_head_seven_lines.txt", 7), ("fio_3.36_io_error_head.txt", 2)]
)
def test_of_a_real_head_of_a_report_only_the_errors_can_be_read(
    name: str, count: int, sample: Callable[[str], str]
) -> None:
    text = sample(name)
    with pytest.raises(ParseError):
        parse_fio(text)
    errors = fio_errors(text)
    assert len(errors) == count
    assert all("Input/output error" in error for error in errors)


def test_real_latencies_of_zero_are_not_measured(sample: Callable[[str], str]) -> None:
    found = parse_fio(sample("fio_3.20_gtod_reduce_four_jobs.json"))
    jobs = {job["name"]: job for job in found["jobs"]}
    read, write = jobs["read_iops"]["read"], jobs["write_iops"]["write"]
    assert (read["bandwidth_bytes_per_s"], write["bandwidth_bytes_per_s"]) == (4_039_322, 1_616_406)
    assert read["iops"] == 982.050780
    assert read["latency_mean_s"] is read["latency_percentiles_s"] is None
    (disk,) = found["disk_util"]
    assert disk["read_ios"] > read["ios"]  # the ramp time
    assert disk["read_ticks_ms"] / 1000 / 17.32 == pytest.approx(61.9, abs=0.05)


def test_the_depth_that_a_real_synchronous_engine_reached_is_one(sample: Callable[[str], str]) -> None:
    found = parse_fio(sample("fio_3.33_sync_engine_note.txt"))
    (job,) = found["jobs"]
    assert (job["engine"], job["asked_depth"], achieved_depth(job)) == ("falloc", 32, 1.0)
    assert (depth_share(job, 1), depth_share(job, 32)) == (1.0, 0.0)
    assert job["write"]["bytes"] == 137_438_953_472
    assert job["write"]["bandwidth_bytes_per_s"] == 1_950_180_255
    assert job["write"]["iops"] == 476118.226321
    assert found["disk_util"][0]["write_ios"] == 18
    assert found["log"].startswith("note: both iodepth >= 1 and synchronous")
    assert found["errors"] == []


def test_a_real_ramp_time_is_in_the_disks_count_only(sample: Callable[[str], str]) -> None:
    found = parse_fio(sample("local_fio_3.33_ramp_time_doubles_disk_util.json"))
    read = found["jobs"][0]["read"]
    assert (read["bandwidth_bytes_per_s"], read["ios"]) == (394_788_470, 24102)
    assert found["disk_util"][0]["read_ios"] == 47312
    assert achieved_depth(found["jobs"][0]) == 1.0


def test_a_real_report_with_bins_is_read(sample: Callable[[str], str]) -> None:
    (job,) = parse_fio(sample("local_fio_3.33_jsonplus_trimmed.json"))["jobs"]
    read = job["read"]
    assert read["bandwidth_bytes_per_s"] == 623_779_543
    assert read["iops"] * read["latency_mean_s"] == pytest.approx(7.99, abs=0.005)
    assert achieved_depth(job) == pytest.approx(8, rel=0.01)
    assert depth_share(job, 8) > 0.99


def test_a_real_missing_file_is_an_error(sample: Callable[[str], str]) -> None:
    found = parse_fio(sample("local_fio_3.33_missing_file_readonly_error.txt"))
    assert found["jobs"][0]["error"] == 2
    assert found["errors"] == ["fio: refusing extend of file due to read-only"]
    assert found["jobs"][0]["read"]["bytes"] == 0
    assert achieved_depth(found["jobs"][0]) is None


def test_units_follow_what_the_report_prints() -> None:
    old = read_with()
    del old["jobs"][0]["read"]["io_kbytes"]
    del old["jobs"][0]["read"]["bw_bytes"]
    assert parsed_job({**old, "fio version": "fio-2.1"})["read"]["bytes"] == 1024 * MIB
    assert parsed_job({**old, "fio version": "fio-3.1"})["read"]["bytes"] == MIB
    assert parsed_job({**old, "fio version": "custom"})["read"]["bytes"] == MIB  # it counts nanoseconds
    assert parsed_job({**old, "fio version": "fio-3.1"})["read"]["bandwidth_bytes_per_s"] == 2048 * 1024


@pytest.mark.parametrize(
    ("printed", "version", "major"),
    [("fio-3.33", "3.33", 3), ("fio 2.0", "2.0", 2), ("2.0.8", "2.0.8", 2), ("fio-3.36-12-gab12", "3.36-12-gab12", 3)],
)
def test_a_version_is_read_however_it_is_printed(printed: str, version: str, major: int) -> None:
    found = parse_fio(json.dumps(report(**{"fio version": printed})))
    assert (found["version"], found["major"]) == (version, major)


def test_percentiles_that_fill_up_the_list_are_left_out() -> None:
    printed = {"50.000000": 5, "0.00": 0, "100.000000": 9, "x": 7}
    read = parsed_job(read_with(clat_ns={"mean": 1, "percentile": printed}))["read"]
    assert read["latency_percentiles_s"] == {"50.000000": 5e-9, "100.000000": 9e-9}


def test_a_number_too_large_for_a_float_is_not_measured() -> None:
    text = json.dumps(report()).replace('"iops": 32.0', '"iops": 1e999')
    assert parse_fio(text)["jobs"][0]["read"]["iops"] is None


def test_a_last_report_without_jobs_does_not_count() -> None:
    empty = json.dumps(report(jobs=[]))
    assert len(parse_fio(f"{json.dumps(report())}\n{empty}\n")["jobs"]) == 1


def test_sampled_means_are_never_used() -> None:
    lying = parsed_job(read_with(bw_mean=1.0, iops_mean=1.0, bw_agg=1.0))
    assert lying == parsed_job(report())


def test_repeated_keys_give_the_last_value() -> None:
    text = json.dumps(report()).replace('"iodepth": "4"', '"iodepth": "9", "iodepth": "4"')
    assert parse_fio(text)["jobs"][0]["asked_depth"] == 4


def test_engine_and_depth_come_from_the_job_then_from_all_jobs() -> None:
    shared = {"ioengine": "libaio", "iodepth": "7"}
    job = parsed_job({**job_with(**{"job options": {"iodepth": "3"}}), "global options": shared})
    assert (job["engine"], job["asked_depth"]) == ("libaio", 3)
    job = parsed_job({**job_with(**{"job options": {}}), "global options": shared})
    assert (job["engine"], job["asked_depth"]) == ("libaio", 7)
    job = parsed_job(job_with(**{"job options": {}, "latency_depth": 5}))
    assert (job["engine"], job["asked_depth"]) == (None, 5)


def test_the_last_complete_report_counts() -> None:
    first, second = json.dumps(report(), indent=1), json.dumps(read_with(io_bytes=7, total_ios=1), indent=1)
    found = parse_fio(f"before\n{first}\nbetween\n{second}\nafter\n{first[:200]}")
    assert found["jobs"][0]["read"]["bytes"] == 7
    assert found["log"].startswith("before\n\nbetween\n\nafter")


def test_a_client_that_sums_after_each_server_counts_its_last_sum() -> None:
    first, second = report()["jobs"][0], read_with(io_bytes=2 * MIB)["jobs"][0]
    entries = [first, {**first, "jobname": "All clients"}, first, {**second, "jobname": "All clients"}]
    found = parse_fio(json.dumps({"fio version": "fio-3.7", "client_stats": entries}))
    assert [job["name"] for job in found["jobs"]] == ["j", "j"]
    assert found["totals"]["read"]["bytes"] == 2 * MIB


def test_a_job_of_that_name_without_clients_is_a_job() -> None:
    found = parse_fio(json.dumps(job_with(jobname="All clients")))
    assert found["totals_job"] is None
    assert len(found["jobs"]) == 1


@pytest.mark.parametrize(
    "line",
    [
        "fio: io_u error on file /dev/sdx: Input/output error: read offset=0, buflen=4096",
        "fio: pid=9, err=5/file:io_u.c:1896, func=io_u error, error=Input/output error",
        "fio: engine libaio not loadable",
        "Engine abc not found; Either name is invalid, was not built, or fio-engine-abc package is missing.",
        "error: failed to setup shm segment",
        "fio: terminating on signal 2",
        "job: No I/O performed by psync, perhaps try --debug=io option for details?",
        "client: host=192.0.2.1 disconnected",
        "verify: bad magic header 0, wanted acca at file f offset 0, length 4096",
    ],
)
def test_a_line_of_trouble_is_an_error_wherever_it_stands(line: str) -> None:
    text = json.dumps(report(), indent=2)
    for whole in (f"{line}\n{text}", f"{text}\n{line}", f"Jobs: 1 (f=1): [r(1)][eta 00m:01s]\r{line}\r{text}"):
        assert parse_fio(whole)["errors"] == [line]


@pytest.mark.parametrize(
    "line",
    [
        "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1",
        "fio: cache invalidation of f.bin failed: Permission denied",
        "fio: file f.bin exceeds 32-bit tausworthe random generator.",
        "fio: lower depth to 16 due to OS constraints",
        "Jobs: 1 (f=1): [r(1)][100.0%][r=1MiB/s][r=1 IOPS][eta 00m:00s]",
        "Starting 1 process",
        "j: (groupid=0, jobs=1): err= 0: pid=1",
        "",
    ],
)
def test_an_ordinary_line_is_no_error(line: str) -> None:
    assert parse_fio(f"{line}\n{json.dumps(report())}\n{line}")["errors"] == []


def test_a_line_of_a_report_that_was_cut_is_no_error() -> None:
    assert fio_errors('{\n  "fio version" : "fio-3.33",\n  "description" : "err=5 is what we look for",\n') == []


@pytest.mark.parametrize("value", [None, "7", True, [1], {}, -1, 0.5, 10**40])
@pytest.mark.parametrize("key", ["io_bytes", "runtime"])
def test_a_side_without_bytes_or_time_is_refused(key: str, value: Any) -> None:
    with pytest.raises(ParseError):
        parse_fio(json.dumps(read_with(**{key: value})))


@pytest.mark.parametrize("value", [None, "7", True, [1], {}, -1, float("nan"), float("inf"), 10**400])
def test_a_number_that_is_none_is_not_measured(value: Any) -> None:
    read = parsed_job(read_with(iops=value, lat_ns={"mean": value}, total_ios=value))["read"]
    assert read["iops"] is read["latency_mean_s"] is read["ios"] is None


@pytest.mark.parametrize("value", [5, -5, "x", True])
def test_an_error_that_is_no_plain_zero_is_an_error(value: Any) -> None:
    assert parsed_job(job_with(error=value))["error"] > 0


def test_a_rate_falls_back_on_bytes_and_time() -> None:
    read = parsed_job(read_with(bw_bytes=None, bw=None))["read"]
    assert read["bandwidth_bytes_per_s"] == 2 * MIB
    assert parsed_job(read_with(bw_bytes=None, bw=None, runtime=0))["read"]["bandwidth_bytes_per_s"] is None


@pytest.mark.parametrize(
    ("levels", "depth", "share_of_8"),
    [
        ({"8": 100.0}, 8.0, 1.0),
        ({"1": 50.0, "8": 50.0}, 4.5, 0.5),
        ({">=64": 100.0}, 64.0, 0.0),
        ({"1": 0.1, "2": 0.1, "4": 0.1, "8": 99.98}, 7.98305, 0.99701),
        ({}, None, 0.0),
        ({"1": 0.0}, None, 0.0),
    ],
)
def test_depth_is_the_mean_of_the_buckets_lower_bounds(
    levels: dict[str, float], depth: float | None, share_of_8: float
) -> None:
    job = parsed_job(job_with(iodepth_level=levels))
    assert achieved_depth(job) == (depth if depth is None else pytest.approx(depth, abs=1e-4))
    assert depth_share(job, 8) == pytest.approx(share_of_8, abs=1e-5)


@pytest.mark.parametrize(
    ("depth", "label"), [(1, "1"), (3, "2"), (7, "4"), (15, "8"), (63, "32"), (64, ">=64"), (999, ">=64")]
)
def test_a_depth_is_looked_for_in_the_bucket_that_holds_it(depth: int, label: str) -> None:
    job = parsed_job(job_with(iodepth_level={label: 100.0}))
    assert depth_share(job, depth) == 1.0


def test_a_depth_below_one_is_refused() -> None:
    with pytest.raises(ParseError):
        depth_share(parsed_job(report()), 0)


@given(
    st.one_of(
        st.text(),
        st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")),
        st.from_regex(r'(\{\n? *"fio version" ?: ?"|"jobs"|[][{}:,]|nan|inf|-|1|"x"|\n|fio: ){0,60}', fullmatch=True),
    )
)
@example('{"fio version": "x", "jobs": [1]}')
@example('{"fio version": 3, "jobs": [{}]}')
@example('{"fio version": "fio-3.1", "jobs": [{"read": 5}]}')
@example('{"fio version": "fio-3.1", "jobs": [{"read": {"io_bytes": 1, "runtime": 1}}], "disk_util": 5}')
@example('{"fio version": "fio-3.1", "jobs": [{"read": {"io_bytes": ' + "9" * 5000 + "}}]}")
@example('{"fio version": "fio-3.1", "jobs": {"a": 1}, "client_stats": [1]}')
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_fio(text)
    except ParseError:
        return


JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)
PLACES = st.sampled_from(
    [
        (),
        ("jobs", 0),
        ("jobs", 0, "read"),
        ("jobs", 0, "read", "clat_ns"),
        ("jobs", 0, "read", "clat_ns", "percentile"),
        ("jobs", 0, "iodepth_level"),
        ("jobs", 0, "job options"),
    ]
)


@given(PLACES, st.integers(0, 30), JSON_VALUES)
def test_a_report_with_any_wrong_value_is_read_or_refused(place: tuple[Any, ...], index: int, value: Any) -> None:
    whole = report()
    block: Any = whole
    for key in place:
        block = block[key]
    block[sorted(block)[index % len(block)]] = value
    try:
        found = parse_fio(json.dumps(whole))
    except ParseError:
        return
    for job in found["jobs"]:
        assert isinstance(job["read"]["bytes"], int)
        achieved_depth(job)


@given(
    st.integers(0, 2**63),
    st.integers(0, 2**40),
    st.integers(0, 2**40),
    st.floats(0, 1e12),
    st.floats(1e-3, 1e15),
    st.dictionaries(st.floats(0.01, 100).map("{:.6f}".format), st.integers(1, 2**50), max_size=5),
)
def test_a_written_report_reads_back(
    size: int, ios: int, runtime: int, iops: float, mean: float, percentiles: dict[str, int]
) -> None:
    whole = read_with(
        io_bytes=size,
        total_ios=ios,
        runtime=runtime,
        iops=iops,
        lat_ns={"mean": mean},
        clat_ns={"mean": mean, "percentile": percentiles},
    )
    read = parsed_job(whole)["read"]
    assert (read["bytes"], read["ios"], read["duration_s"], read["iops"]) == (size, ios, runtime / 1000, iops)
    assert read["latency_mean_s"] == mean / 1e9
    right = {label: value / 1e9 for label, value in percentiles.items()}
    assert read["latency_percentiles_s"] == (right or None)


@pytest.mark.parametrize(
    "part",
    ["[", '{"a":', '{"fio version":', '{"fio version":[', "{\n", '{"fio version":1,\n"jobs":['],
)
def test_a_deeply_nested_text_is_refused(part: str) -> None:
    with pytest.raises(ParseError):
        parse_fio('{"fio version": "fio-3.33", "jobs": [' + part * (500_000 // len(part)))
    with pytest.raises(ParseError):
        parse_fio(part * (500_000 // len(part)))


@pytest.mark.parametrize(
    "part", ["{", "nan,", "fio: ", " ", "\n{", "Jobs: ", '{"fio version"', "\\", '"', "[eta 00m:00s]", "1", ": -inf  "]
)
def test_a_megabyte_after_a_report_does_not_hide_it(part: str) -> None:
    text = json.dumps(report(), indent=1)
    assert parse_fio(f"{text}\n{part * (1_000_000 // len(part))}")["jobs"][0]["read"]["bytes"] == MIB


@pytest.mark.parametrize("part", ["nan,", "fio: ", " ", "Jobs: ", "\\", '"', "[eta 00m:00s]", "1", "{", ": -inf  "])
def test_a_megabyte_before_a_report_does_not_hide_it(part: str) -> None:
    text = json.dumps(report(), indent=1)
    assert parse_fio(f"{part * (1_000_000 // len(part))}\n{text}")["jobs"][0]["read"]["bytes"] == MIB


def test_many_beginnings_of_reports_are_given_up() -> None:
    with pytest.raises(ParseError):
        parse_fio('{"fio version" : 1,\n' * 50_000 + json.dumps(report()))


@pytest.mark.slow
def test_fifty_megabytes_of_bins_are_read() -> None:
    bins = ", ".join(f'"{number}": 1' for number in range(3_000_000))
    text = json.dumps(report()).replace('"percentile": {"50.', f'"bins": {{{bins}}}, "percentile": {{"50.', 1)
    assert len(text) > 40_000_000
    assert parse_fio(text)["jobs"][0]["read"]["bytes"] == MIB


@pytest.mark.slow
def test_more_than_64_mebibytes_are_refused() -> None:
    with pytest.raises(ParseError, match="64 MiB"):
        parse_fio(json.dumps(report()) + " " * (65 * MIB))

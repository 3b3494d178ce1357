"""Counters of block devices, of every kernel, and what happened between two readings."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError, diskstats
from rerig_agent.parse.diskstats import FIELDS, SECTOR_BYTES, parse_diskstats, parse_stat, stat_delta

FOLDER = "diskstats"
COUNTERS = [name for name in FIELDS if name != "in_flight"]
ANY_TEXT = st.one_of(
    st.text(),
    st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")),
    st.lists(st.one_of(st.integers(), st.text(max_size=5)), max_size=20).map(lambda words: " ".join(map(str, words))),
)


def stat(*values: int, **changes: int) -> dict[str, Any]:
    counters: dict[str, Any] = dict.fromkeys(FIELDS)
    counters.update(zip(FIELDS, values))
    counters.update(changes)
    return counters


def test_a_case_is_read_right(case: Any, agree: Callable[[Any, Any], None]) -> None:
    parser = getattr(diskstats, case.right["parser"])
    if case.right.get("refused"):
        with pytest.raises(ParseError):
            parser(case.text)
    else:
        agree(parser(case.text), case.right["gives"])


def test_a_real_diskstats_with_rows_of_three_lengths_is_read(sample: Callable[[str], str]) -> None:
    devices = parse_diskstats(sample("proc_diskstats_mixed_11_15_17_fields.txt"))
    assert len(devices) == 52
    sda = devices["sda"]
    assert (sda["reads"], sda["read_sectors"], sda["read_ticks_ms"]) == (25354637, 1003346126, 18492372)
    assert (sda["in_flight"], sda["io_ticks_ms"], sda["weighted_ms"]) == (0, 9653880, 82621804)
    assert sda["discards"] is None
    assert (devices["sdb"]["discards"], devices["sdb"]["discard_ticks_ms"], devices["sdb"]["flushes"]) == (
        68851,
        11130,
        None,
    )
    assert (devices["sdc"]["flushes"], devices["sdc"]["flush_ticks_ms"]) == (127, 182)


def test_a_sector_is_512_bytes_on_every_device() -> None:
    assert SECTOR_BYTES == 512


@pytest.mark.parametrize("parser", [parse_stat, parse_diskstats])
@given(ANY_TEXT)
@example("1 " * 11 + "9" * 5000)
@example("8 0 sda " + "9" * 5000 + " 1" * 10)
@example("8 0 sda 1 2 3 4 5 6 7 8 9 10 ١١")
def test_any_text_is_read_or_refused(parser: Callable[[str], Any], text: str) -> None:
    try:
        parser(text)
    except ParseError:
        return


@given(st.sampled_from([11, 15, 17]).flatmap(lambda n: st.lists(st.integers(0, 2**64 - 1), min_size=n, max_size=n)))
def test_a_written_line_reads_back(values: list[int]) -> None:
    right = stat(*values)
    assert parse_stat("  ".join(map(str, values)) + "\n") == right
    text = f"   8       0 sda {' '.join(map(str, values))}\n"
    assert parse_diskstats(text) == {"sda": right}


@given(
    st.lists(st.integers(0, 2**62), min_size=17, max_size=17), st.lists(st.integers(0, 2**20), min_size=17, max_size=17)
)
def test_the_difference_is_what_was_added(start: list[int], added: list[int]) -> None:
    before = stat(*start)
    after = stat(*(first + more for first, more in zip(start, added)))
    delta = stat_delta(before, after)
    assert {name: delta[name] for name in COUNTERS} == {
        name: more for name, more in zip(FIELDS, added) if name != "in_flight"
    }


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize("bits", [32, 64])
def test_a_counter_that_wrapped_is_counted_on(name: str, bits: int) -> None:
    before = stat(*[0] * 17, **{name: 2**bits - 100})
    after = stat(*[0] * 17, **{name: 23})
    if bits == 64 and name.endswith("_ms"):  # the kernel has no 64 bits of milliseconds
        with pytest.raises(ParseError):
            stat_delta(before, after)
    else:
        assert stat_delta(before, after)[name] == 123


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize("first", [5, 2**31, 2**32 + 5, 2**63])
def test_a_device_that_went_backwards_is_refused(name: str, first: int) -> None:
    with pytest.raises(ParseError, match=name):
        stat_delta(stat(*[0] * 17, **{name: first}), stat(*[0] * 17, **{name: 4}))


def test_a_counter_that_fell_by_half_has_not_wrapped() -> None:
    with pytest.raises(ParseError, match="reads"):
        stat_delta(stat(*[0] * 17, reads=2**32 - 5), stat(*[0] * 17, reads=2**31))


def test_requests_in_flight_are_those_of_the_later_reading() -> None:
    assert stat_delta(stat(*[9] * 17), stat(*[9] * 17, in_flight=3))["in_flight"] == 3


def test_a_field_that_one_kernel_lacks_has_no_difference() -> None:
    delta = stat_delta(stat(*[1] * 11), stat(*[3] * 17))
    assert delta["reads"] == 2
    assert delta["discards"] is None


def test_a_megabyte_of_numbers_is_refused() -> None:
    with pytest.raises(ParseError):
        parse_stat("9" * 1_000_000)
    with pytest.raises(ParseError):
        parse_diskstats("8 0 " + "a 1 " * 250_000 + "x")

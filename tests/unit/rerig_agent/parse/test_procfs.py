"""Small files of /proc, real and broken."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError, procfs
from rerig_agent.parse.procfs import NET_FIELDS, parse_cpuinfo, parse_net_dev, parse_os_release, parse_process_io

FOLDER = "procfs"
PARSERS = [getattr(procfs, name) for name in sorted(vars(procfs)) if name.startswith("parse_")]
NAMES = st.text(
    st.characters(codec="ascii", categories=["L", "N", "P"], exclude_characters="/:"), min_size=1, max_size=15
)


def test_a_case_is_read_right(case: Any, agree: Callable[[Any, Any], None]) -> None:
    parser = getattr(procfs, case.right["parser"])
    if case.right.get("refused"):
        with pytest.raises(ParseError):
            parser(case.text)
    else:
        agree(parser(case.text), case.right["gives"])


def test_sizes_in_pages_are_not_taken_for_bytes() -> None:
    assert "HugePages_Total" not in procfs.parse_meminfo("MemTotal: 1 kB\nHugePages_Total: 3\n")


def test_a_serial_number_is_never_returned() -> None:
    assert "deadbeef" not in repr(parse_cpuinfo("processor : 0\nSerial : 10000000deadbeef\n"))


@pytest.mark.parametrize("parser", PARSERS)
@given(
    st.one_of(
        st.text(),
        st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")),
        st.from_regex(
            r"((some|full|MemTotal|eth0|processor|Filename|ID)[:= ]|[-0-9.=kB\"' /\n]){0,60}", fullmatch=True
        ),
    )
)
@example("Filename\n/x partition 9" + "9" * 5000 + " 1 1")
@example("some avg10=9" + "9" * 5000 + " avg60=1 avg300=1 total=1")
@example("some avg10=1e5 avg60=nan avg300=-1 total=1_0")
@example("rchar: 9" + "9" * 5000)
@example("eth0: " + "1_0 " * 16)
def test_any_text_is_read_or_refused(parser: Callable[[str], Any], text: str) -> None:
    try:
        parser(text)
    except ParseError:
        return


@given(NAMES, st.lists(st.integers(0, 2**64 - 1), min_size=16, max_size=16))
def test_a_written_interface_reads_back(name: str, values: list[int]) -> None:
    text = f"Inter-| Receive\n face |bytes\n{name:>6}: {' '.join(map(str, values))}\n"
    assert parse_net_dev(text) == {name: dict(zip(NET_FIELDS, values))}


@given(
    st.dictionaries(
        st.sampled_from(["rchar", "wchar", "read_bytes", "write_bytes"]), st.integers(0, 2**64 - 1), min_size=1
    )
)
def test_written_process_counters_read_back(values: dict[str, int]) -> None:
    assert parse_process_io("".join(f"{key}: {value}\n" for key, value in values.items())) == values


@given(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["C", "Z"])))
def test_a_quoted_value_reads_back(value: str) -> None:
    quoted = value
    for sign in '\\"$`':
        quoted = quoted.replace(sign, "\\" + sign)
    assert parse_os_release(f'NAME="{quoted}"\n') == {"NAME": value}


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("part", ["9", ":", "a=", "1 ", " ", "some ", "processor "])
def test_a_megabyte_of_one_line_is_read_or_refused(parser: Callable[[str], Any], part: str) -> None:
    try:
        parser("eth0: " + part * (1_000_000 // len(part)))
    except ParseError:
        return

"""dd's last words in every language, and what is no such thing."""

from __future__ import annotations

import re
from typing import Any, Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError, dd
from rerig_agent.parse.dd import parse_dd, parse_dd_records

FOLDER = "dd"
SAMPLES = [
    ("dd_ko_old_2.6kB.txt", 2560, 0.0229217, "112 kB/초"),
    ("dd_ko_mixed_english_line.txt", 1073741824, 2.54515, "422 MB/s"),
    ("dd_ko_no_parens_small.txt", 64, 0.000566536, "113 kB/s"),
    ("dd_zh_old.txt", 2962227200, 705.317, "4.2 MB/秒"),
    ("dd_zh_exponent.txt", 512, 0.000093823, "5.5 MB/秒"),
    ("dd_zh_partial_english_line.txt", 206, 0.0145471, "14.2 kB/s"),
    ("dd_ja_old.txt", 536870912, 7.35077, "73.0 MB/秒"),
    ("dd_ja_mixed_cached_read.txt", 1073741824, 0.783031, "1.4 GB/s"),
    ("dd_de_old_comma_rate.txt", 10485760, 0.902346, "11,6 MB/s"),
    ("dd_de_slow_progress.txt", 4096, 17.079, "0,2 kB/s"),
    ("dd_fr_comma.txt", 524288000, 1.24566, "421 MB/s"),
    ("dd_es_copiados.txt", 188743680, 0.96184, "196 MB/s"),
    ("dd_ru_new.txt", 512, 0.0202791, "25,2 kB/s"),
    ("dd_en_busybox_ok.txt", 4194304, 0.003766, "1.0GB/s"),
    ("dd_en_gnu8.txt", 299266048, 4.83917, "61.8 MB/s"),
    ("dd_en_gnu9_pi_cold_read.txt", 1073741824, 24.5313, "43.8 MB/s"),
]
ANY_TEXT = st.one_of(
    st.text(),
    st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")),
    st.from_regex(r"([-0-9+., ()/kMBs]|copied|\n|\r|dd: ){0,60}", fullmatch=True),
)


def test_a_case_is_read_right(case: Any, agree: Callable[[Any, Any], None]) -> None:
    parser = getattr(dd, case.right["parser"])
    if case.right.get("refused"):
        with pytest.raises(ParseError):
            parser(case.text)
    else:
        agree(parser(case.text), case.right["gives"])


@pytest.mark.parametrize(("name", "size", "duration_s", "rate"), SAMPLES)
def test_a_real_output_is_read_right(
    name: str, size: int, duration_s: float, rate: str, sample: Callable[[str], str]
) -> None:
    summary = parse_dd(sample(name))
    assert (summary["bytes"], summary["duration_s"], summary["printed_rate"]) == (size, duration_s, rate)
    assert summary["errors"] == summary["warnings"] == []


def test_a_real_partial_record_is_counted(sample: Callable[[str], str]) -> None:
    summary = parse_dd(sample("dd_zh_partial_english_line.txt"))
    assert (summary["full_records_in"], summary["partial_records_in"]) == (0, 1)
    assert (summary["full_records_out"], summary["partial_records_out"]) == (0, 1)


def test_all_languages_of_a_real_dd_are_read(sample: Callable[[str], str]) -> None:
    blocks = sample("dd_local_gnu91_all_languages.txt").split("### LANGUAGE=")[1:]
    assert len(blocks) == 43
    for block in blocks:
        language, _, output = block.partition("\n")
        seconds = re.search(r"([0-9]\.[0-9]+) ?s", output)
        assert seconds is not None, language
        assert parse_dd(output) == {
            "bytes": 314572803,
            "duration_s": float(seconds.group(1)),
            "full_records_in": 37,
            "partial_records_in": 1,
            "full_records_out": 37,
            "partial_records_out": 1,
            "printed_rate": re.split("[,，] ?", output.strip())[-1],
            "warnings": [],
            "errors": [],
        }, language


def test_any_warning_of_dd_is_a_warning() -> None:
    warning = "dd: warning: '0x' is a zero multiplier; use '00x' if that is intended"
    summary = parse_dd(f"{warning}\n1+0 a\n1+0 b\n512 bytes copied, 2 s, 256 B/s\n")
    assert (summary["warnings"], summary["errors"]) == ([warning], [])


def test_marks_of_direction_are_no_part_of_the_rate() -> None:
    summary = parse_dd("1+0 a\n1+0 b\n\u200f512 bytes copied, 2 s, \u202a256 B/s\u202c\u200f\n")
    assert (summary["bytes"], summary["printed_rate"]) == (512, "256 B/s")


def test_counts_are_those_of_the_last_summary() -> None:
    text = "1+0 a\n1+0 b\n512 bytes copied, 2 s, 256 B/s\n1024 bytes copied, 4 s, 256 B/s\n"
    summary = parse_dd(text)
    assert (summary["bytes"], summary["full_records_in"]) == (1024, None)
    assert len(summary["warnings"]) == 1


def test_counts_after_the_last_summary_are_doubtful() -> None:
    summary = parse_dd("1+0 a\n1+0 b\n512 bytes copied, 2 s, 256 B/s\n2+0 a\n2+0 b\n")
    assert (summary["bytes"], summary["full_records_in"]) == (512, 1)
    assert len(summary["warnings"]) == 1


@given(ANY_TEXT)
@example("1+0\n1+0\n" + "9" * 5000 + " bytes copied, 1 s, 1 B/s")
@example("1 bytes copied, 9" + "9" * 400 + " s, 1 B/s")
@example("1 bytes copied, 1e9999 s, 1 B/s")
@example("1 bytes copied, 1e-9999 s, 1 B/s")
@example("²+³ ½ bytes, ⅓ s, ① B/s")
@example("1\udc80+1\ud800 bytes 1 s, 1/s")
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        summary = parse_dd(text)
    except ParseError:
        return
    assert isinstance(summary["bytes"], int)
    assert summary["bytes"] >= 0
    assert 0 <= summary["duration_s"] < float("inf")


@given(ANY_TEXT)
def test_any_text_has_record_counts_or_is_refused(text: str) -> None:
    try:
        counts = parse_dd_records(text)
    except ParseError:
        return
    assert counts["full_records_in"] >= 0


WORDS = st.sampled_from(
    ["bytes", "Bytes", "octets", "바이트", "バイト", "байт", "bajtů", "字节", "bytes\u00a0", "de octeți"]
)


@given(
    size=st.integers(0, 10**20),
    seconds=st.floats(0, 1e9),
    word=WORDS,
    comma=st.sampled_from([", ", "，", "、 ", "، "]),
    point=st.sampled_from([".", ","]),
    brackets=st.sampled_from(["", " (1,1 GB, 1,0 GiB)", " (3.0 GB)", "（310 MB，296 MiB）"]),
    rate=st.sampled_from(["42 MB/s", "1{}6 GB/秒", "0{}0 kB/s", "Infinity B/s", "무한 B/s", "11.6MB/с"]),
    records=st.tuples(*[st.integers(0, 10**12)] * 4),
)
def test_a_written_summary_reads_back(
    size: int,
    seconds: float,
    word: str,
    comma: str,
    point: str,
    brackets: str,
    rate: str,
    records: tuple[int, int, int, int],
) -> None:
    printed = format(seconds, "g")
    rate = rate.format(point)
    into, partly_into, out, partly_out = records
    summary = parse_dd(
        f"{into}+{partly_into} records in\n{out}+{partly_out} records out\n"
        f"{size} {word}{brackets} copied{comma}{printed.replace('.', point)} s{comma}{rate}\n"
    )
    assert summary["bytes"] == size
    assert summary["duration_s"] == float(printed)
    assert (summary["full_records_in"], summary["partial_records_in"]) == (into, partly_into)
    assert (summary["full_records_out"], summary["partial_records_out"]) == (out, partly_out)
    assert summary["printed_rate"] == rate


@given(st.integers(0, 10**20), st.sampled_from([",", ".", "'", "’", " ", "\u00a0", "\u202f", "\u2009", "٬"]))
def test_grouped_digits_are_one_number(size: int, sign: str) -> None:
    grouped = format(size, ",").replace(",", sign)
    assert parse_dd(f"{grouped} bytes (1 GB) copied, 0.5 s, 2 GB/s")["bytes"] == size


@pytest.mark.parametrize(
    "line",
    [
        "9" * 1_000_000,
        "1," * 500_000 + "/s",
        "(" * 1_000_000,
        "()" * 500_000 + "/s",
        "1 " * 500_000 + " B/s",
        "+1" * 500_000,
        "\u00a0123" * 250_000,
        "dd: " * 250_000,
    ],
    ids=["digits", "commas", "brackets", "pairs", "numbers", "records", "groups", "names"],
)
def test_a_megabyte_of_one_line_is_no_summary(line: str) -> None:
    with pytest.raises(ParseError):
        parse_dd(line)
    assert parse_dd(f"{line}\n512 bytes copied, 2 s, 256 B/s")["bytes"] == 512


def test_many_short_lines_are_read() -> None:
    line = "1024 bytes (1.0 kB, 1.0 KiB) copied, 1 s, 1.0 kB/s\r"
    assert parse_dd(line * 20_000 + "1+0 a\n1+0 b\n2048 bytes copied, 2 s, 1.0 kB/s")["bytes"] == 2048

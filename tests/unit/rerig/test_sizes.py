"""Sizes and rates as users type and read them."""

from __future__ import annotations

import pytest

from rerig.errors import UserError
from rerig.sizes import format_bytes, format_duration, format_rate, format_seconds, parse_size


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("4G", 4 * 2**30),
        ("4GiB", 4 * 2**30),
        ("4GB", 4 * 10**9),
        ("4g", 4 * 2**30),
        ("1.5G", 3 * 2**29),
        ("512M", 2**29),
        ("4294967296", 2**32),
        ("4294967296B", 2**32),
        (" 2 GiB ", 2**31),
        ("1T", 2**40),
    ],
)
def test_sizes_are_binary_unless_they_end_in_a_decimal_unit(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize("text", ["", "G", "-1G", "1e9", "4 4G", "0x10", "1GG", "٤G", "nan", "1M1", "9" * 40])
def test_what_is_no_size_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(UserError, match="is not a size"):
        parse_size(text)


@pytest.mark.parametrize("text", ["0", "1", "4096", "0.5M"])
def test_what_is_too_small_to_measure_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="too small"):
        parse_size(text)


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(2**32, "4 GiB"), (65536, "64 KiB"), (2**20, "1 MiB"), (253815318, "242.06 MiB"), (1000, "1000 B")],
)
def test_bytes_are_shown_in_binary_units(size_bytes: int, text: str) -> None:
    assert format_bytes(size_bytes) == text


@pytest.mark.parametrize(
    ("rate", "text"), [(113.6e6, "114 MB/s"), (1.4533e9, "1,453 MB/s"), (46.54e6, "46.5 MB/s"), (8.3e6, "8.30 MB/s")]
)
def test_rates_are_shown_as_the_posts_print_them(rate: float, text: str) -> None:
    assert format_rate(rate) == text


@pytest.mark.parametrize(("seconds", "text"), [(3.21, "3.2 s"), (12.3, "12 s"), (99.4, "99 s"), (150, "2 min 30 s")])
def test_times_are_shown_in_minutes_where_they_are_long(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0 s"), (45.4, "45 s"), (89.0, "89 s"), (180.2, "3 min"), (7300.0, "2 h"), (3e5, "3 days")],
)
def test_a_length_of_time_is_shown_in_one_unit(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text

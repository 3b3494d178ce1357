"""A disk in one word of the command line."""

from __future__ import annotations

import pytest

from twin.disk_words import DiskWords, parse_disk
from twin.errors import TwinError


@pytest.mark.parametrize(
    ("word", "disk"),
    [
        ("64M:blank", DiskWords(2**26)),
        ("1G", DiskWords(2**30)),
        ("1.5GiB", DiskWords(3 * 2**29)),
        ("4G:ext4", DiskWords(4 * 2**30, "ext4")),
        ("256M@100MiB/s", DiskWords(2**28, "blank", {"bps_read": 100 * 2**20})),
        ("512MB:luks@50MB/s@500iops", DiskWords(512 * 10**6, "luks", {"bps_read": 50 * 10**6, "iops_read": 500})),
        ("1048576@1000iops", DiskWords(2**20, "blank", {"iops_read": 1000})),
    ],
)
def test_size_contents_and_rates_are_one_word(word: str, disk: DiskWords) -> None:
    assert parse_disk(word) == disk


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("", "'' should be a number"),
        ("big", "'big' should be a number"),
        ("1T", "'1T' should be a number"),
        ("-1G", "'-1G' should be a number"),
        ("٣G", "'٣G' should be a number"),
        ("1000", "multiple of 512"),
        ("0", "multiple of 512"),
        ("64M:ext4", "at least 128MiB, and '64M' is less"),
        ("1G:fat32", "no contents 'fat32'"),
        ("1G:", "no contents ''"),
        ("1G@fast", "such as 100MiB/s or 1000iops"),
        ("1G@100MiB", "such as 100MiB/s or 1000iops"),
        ("1G@x/s", "'x' should be a number"),
    ],
)
def test_a_word_that_makes_no_sense_is_explained(word: str, said: str) -> None:
    with pytest.raises(TwinError, match=said):
        parse_disk(word)

"""Times of documents, read to the microsecond or not at all."""

from __future__ import annotations

from datetime import datetime

import pytest

from rerig.instants import format_instant, read_instant, seconds_between


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-30T18:42:00Z", datetime(2026, 11, 30, 18, 42)),
        ("2026-11-30T18:42:00.5Z", datetime(2026, 11, 30, 18, 42, 0, 500_000)),
        ("2026-11-30T18:42:00.118204+00:00", datetime(2026, 11, 30, 18, 42, 0, 118_204)),
    ],
)
def test_an_instant_is_read_to_the_microsecond(text: str, moment: datetime) -> None:
    assert read_instant(text) == moment


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        "",
        "2026-06-31T18:42:00Z",
        "0000-01-01T00:00:00Z",
        "2026-11-30T18:42:00",
        "2026-11-30 18:42:00Z",
        "2026-11-30T18:42:00Z\n",
        "2026-11-30T18:42:00+01:00",
        "2026-11-30T18:42:00.1234567Z",
        "\u0662026-11-30T18:42:00Z",
    ],
)
def test_anything_else_is_none(value: object) -> None:
    assert read_instant(value) is None


def test_what_is_written_is_read_again_as_the_same() -> None:
    moment = datetime(2026, 11, 30, 18, 42, 0, 118_204)
    assert read_instant(format_instant(moment)) == moment


def test_the_time_between_is_to_a_millisecond_and_may_be_unknown() -> None:
    first, second = datetime(2026, 1, 1), datetime(2026, 1, 1, 0, 3, 0, 1_499)
    assert seconds_between(first, second) == 180.001
    assert seconds_between(second, first) == -180.001
    assert str(seconds_between(datetime(2026, 1, 1, 0, 0, 0, 100), first)) == "0.0"
    assert seconds_between(None, second) is None

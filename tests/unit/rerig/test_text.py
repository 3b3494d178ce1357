"""Text that is safe to show."""

import pytest

from rerig.text import bounded, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("모델 a'b\"c.bin", "모델 a'b\"c.bin"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\udcff\udc80", "\\xff\\x80"),
        ("\ud800", "\\ud800"),
        ("a\u202eb\u200b", "a\\u202eb\\u200b"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_what_does_not_print_as_itself_is_escaped(text, shown):
    assert printable(text) == shown


def test_a_long_text_is_cut_to_the_bound_with_an_ellipsis():
    assert bounded("abcdef", 4) == "abc…"
    assert bounded("abcd", 4) == "abcd"

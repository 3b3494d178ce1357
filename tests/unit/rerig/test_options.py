"""Labels and repeats as typed on the command line."""

from __future__ import annotations

import pytest

from rerig.errors import UserError
from rerig.options import parse_command, parse_labels, parse_repeats


def test_labels_keep_the_users_text() -> None:
    assert parse_labels(["nas=4-bay, 10GbE", "link=10GbE = fast", "note=집 NAS"]) == {
        "nas": "4-bay, 10GbE",
        "link": "10GbE = fast",
        "note": "집 NAS",
    }


@pytest.mark.parametrize("text", ["nas", "=x", "NAS=x", "n as=x", "1nas=x", "a" * 33 + "=x"])
def test_a_label_without_a_key_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="must look like"):
        parse_labels([text])


@pytest.mark.parametrize("text", ["nas=", "nas=a\nb", "nas=\x1b[2J", "nas=" + "x" * 201])
def test_a_label_with_no_or_odd_text_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="printable text"):
        parse_labels([text])


def test_a_label_given_twice_is_refused() -> None:
    with pytest.raises(UserError, match="twice"):
        parse_labels(["nas=a", "nas=b"])


def test_repeats_are_a_small_number_or_the_suites_own() -> None:
    assert parse_repeats("") is None
    assert parse_repeats("5") == 5


@pytest.mark.parametrize("text", ["0", "101", "-1", "1.5", "three", "１"])
def test_other_repeats_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="from 1 to 100"):
        parse_repeats(text)


def test_a_command_is_split_into_words_and_nothing_in_it_is_expanded() -> None:
    assert parse_command("") is None
    assert parse_command("burn") == ["burn"]
    assert parse_command("/opt/burn --for '90 s' \"$HOME/*\" ''") == ["/opt/burn", "--for", "90 s", "$HOME/*", ""]


@pytest.mark.parametrize("text", ["   ", "''", "'' burn", "burn 'x", 'burn "', "burn \0", "burn " + "x" * 4097])
def test_what_is_no_command_is_refused_with_one_sentence(text: str) -> None:
    with pytest.raises(UserError, match="--gpu-load") as caught:
        parse_command(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300

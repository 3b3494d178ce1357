"""What lines of a play come to, for each machine and role."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig.play_events import failure_sentence, plain_message, read_outcomes


def task(status: str = "ok", **more: Any) -> str:
    line = {"event": "task", "host": "orin", "role": "power_mode", "task": "mode | Ask nvpmodel", "status": status}
    return json.dumps({**line, "said": None, "remote": True, **more})


def end(**counts: int) -> str:
    return json.dumps({"event": "end", "hosts": {"orin": counts}})


def test_a_roles_own_words_win_over_the_names_of_its_tasks() -> None:
    facts = {"changed_what": ["power mode 15W → MAXN_SUPER"], "reboot_required": True}
    orin = read_outcomes([task("changed"), task(facts=facts), end(changed=1)])["orin"]
    assert orin.roles["power_mode"].changes == ["power mode 15W → MAXN_SUPER"]
    assert orin.roles["power_mode"].reboot_required
    assert (orin.tasks, orin.remote_tasks, orin.changed, orin.failure) == (2, 2, 1, None)


def test_a_role_without_words_is_told_by_its_tasks() -> None:
    orin = read_outcomes([task("changed"), task(), task("skipped", remote=False), end(changed=1)])["orin"]
    assert orin.roles["power_mode"].changes == ["Ask nvpmodel"]
    assert orin.tasks == 2


def test_a_role_of_which_all_is_skipped_was_left_alone() -> None:
    look = {"verdict": "not_a_jetson", "cause": "This is not a Jetson."}
    outcomes = read_outcomes([task(role="board_state", look=look), task("skipped", remote=False), end()])
    assert outcomes["orin"].not_a_jetson == "This is not a Jetson."
    assert outcomes["orin"].roles["power_mode"].skipped
    assert not outcomes["orin"].roles["board_state"].skipped


@pytest.mark.parametrize(("kind", "unreachable"), [("failed", False), ("unreachable", True)])
def test_a_failure_is_kept_as_it_was_said(kind: str, unreachable: bool) -> None:
    counted = {"failures": 0 if unreachable else 1, "unreachable": int(unreachable)}
    orin = read_outcomes([task(kind, said="There is no mode TURBO."), end(**counted)])["orin"]
    assert (orin.failure, orin.unreachable) == ("There is no mode TURBO.", unreachable)


def test_a_failure_that_was_mended_is_none() -> None:
    orin = read_outcomes([task("failed", said="no"), task(), end(failures=0, rescued=1)])["orin"]
    assert orin.failure is None


def test_a_failure_that_no_line_told_is_one() -> None:
    assert read_outcomes([task(), end(failures=1)])["orin"].failure == "a task failed; see above"


def test_a_play_that_was_killed_still_has_its_failure() -> None:
    assert read_outcomes([task("failed", said="no"), task()[:20]])["orin"].failure == "no"


@given(st.lists(st.text() | st.just("[]") | st.just('{"event": "else"}')))
def test_lines_that_are_none_of_ours_are_left_out(lines: list[str]) -> None:
    assert read_outcomes(lines) == {}


@pytest.mark.parametrize(
    ("said", "unreachable", "sentence"),
    [
        ("The mode is 15W.", False, "orin: The mode is 15W."),
        (
            "Task failed: Failed to connect to the host via ssh: ssh: connect to host orin port 22: Refused\r\n",
            True,
            "orin can't be reached: ssh: connect to host orin port 22: Refused.",
        ),
        ("Task failed: Missing sudo password", False, "orin: sudo wants a password there; give --ask-become-pass."),
        (
            "Premature end of stream waiting for become success.\n>>> Standard Error\nsudo: a password is required",
            False,
            "orin: sudo wants a password there; give --ask-become-pass.",
        ),
        ("Task failed: Incorrect sudo password", False, "orin: sudo doesn't take this password."),
        ("one\n\n  two\x1b[2J\n", False, "orin: one two\\x1b[2J."),
    ],
)
def test_a_failure_is_one_sentence(said: str, unreachable: bool, sentence: str) -> None:
    assert failure_sentence("orin", said, unreachable) == sentence


@given(st.text())
def test_any_message_becomes_one_printable_line(text: str) -> None:
    line = plain_message(text)
    assert line.isprintable()
    assert len(line) <= 400

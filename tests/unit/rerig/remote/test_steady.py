"""Patience with a connection that breaks: bounded, and begun anew with every word that is heard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.remote.lost import ConnectionLost, Unreachable
from rerig.remote.steady import PATIENCE_S, SteadyShell


class Time:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now


class Door:
    """Opens shells, which are numbers here; raises what ``answers`` hold instead."""

    def __init__(self, *answers: Exception | None) -> None:
        self.answers = list(answers)
        self.opened = 0

    def __call__(self) -> Any:
        answer = self.answers.pop(0) if self.answers else None
        if answer is not None:
            raise answer
        self.opened += 1
        return self.opened


def steady(door: Door, time: Time) -> SteadyShell:
    return SteadyShell(door, time.wait, time.clock)


def losing(times: int, why: str = "The connection broke.") -> Callable[[Any], Any]:
    """An action that loses its connection so many times, then gives its shell."""
    left = [times]

    def action(shell: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise ConnectionLost(why)
        return shell

    return action


def test_one_shell_serves_as_long_as_it_holds() -> None:
    door, time = Door(), Time()
    shell = steady(door, time)
    assert [shell.do(lambda open_shell: open_shell) for _ in range(3)] == [1, 1, 1]
    assert time.waits == []


def test_a_lost_connection_is_opened_anew_and_the_action_begun_anew() -> None:
    door, time = Door(), Time()
    assert steady(door, time).do(losing(3)) == 4
    assert time.waits == [0.5, 1.0, 2.0]


def test_a_first_connection_that_does_not_come_about_is_not_tried_again() -> None:
    door, time = Door(Unreachable("Nothing answers.")), Time()
    with pytest.raises(Unreachable):
        steady(door, time).do(losing(0))
    assert time.waits == []


def test_a_machine_that_boots_is_waited_for() -> None:
    door, time = Door(None, *[Unreachable("Nothing answers.")] * 5), Time()
    assert steady(door, time).do(losing(1)) == 2
    assert time.waits == [0.5, 1.0, 2.0, 4.0, 8.0, 10.0]


def test_patience_ends_with_the_last_reason() -> None:
    door, time = Door(None, *[Unreachable("Nothing answers.")] * 1000), Time()
    begin = time.now
    with pytest.raises(ConnectionLost, match=r"^Nothing answers\.$"):
        steady(door, time).do(losing(1))
    assert PATIENCE_S <= time.now - begin < PATIENCE_S + 11
    assert max(time.waits) == 10.0


def test_a_reason_that_does_not_pass_ends_it_at_once() -> None:
    door, time = Door(None, UserError("The host key has changed.")), Time()
    with pytest.raises(UserError, match="has changed"):
        steady(door, time).do(losing(1))
    assert len(time.waits) == 1


def test_what_an_action_says_itself_is_passed_on() -> None:
    def refuse(_shell: Any) -> Any:
        raise UserError("No.")

    door, time = Door(), Time()
    shell = steady(door, time)
    with pytest.raises(UserError, match=r"^No\.$"):
        shell.do(refuse)
    assert shell.do(lambda open_shell: open_shell) == 1


def test_a_word_from_the_machine_begins_patience_anew() -> None:
    """A connection that breaks again and again, but brings something each time, is good enough."""
    door, time = Door(), Time()
    shell = steady(door, time)
    left = [1000]

    def action(open_shell: Any) -> Any:
        shell.progress()
        if left[0]:
            left[0] -= 1
            raise ConnectionLost("The connection broke.")
        return open_shell

    assert shell.do(action) == 1001
    assert set(time.waits) == {0.5}


def test_an_action_that_succeeds_begins_patience_anew() -> None:
    door, time = Door(), Time()
    shell = steady(door, time)
    for _ in range(200):
        shell.do(losing(1))
    assert set(time.waits) == {0.5}


def test_a_connection_that_breaks_at_once_each_time_is_given_up() -> None:
    door, time = Door(), Time()
    with pytest.raises(ConnectionLost, match=r"^The connection broke\.$"):
        steady(door, time).do(losing(10**6))

"""Work on several machines at once: nothing that is told is lost, and no failure stops another's work."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.side_by_side import Interrupted, SideBySide, Tell, run_side_by_side
from rerig.signals import handling

LIMIT_S = 60


def test_answers_come_in_the_order_of_the_items_and_failures_are_answers() -> None:
    def work(item: int) -> int:
        if item == 2:
            raise UserError("Two is out.", 69)
        return 10 * item

    answers = run_side_by_side({"c": 3, "b": 2, "a": 1}, work)
    assert list(answers) == ["c", "b", "a"]
    assert (answers["c"], answers["a"]) == (30, 10)
    failed = answers["b"]
    assert isinstance(failed, UserError)
    assert (str(failed), failed.exit_status) == ("Two is out.", 69)


@pytest.mark.parametrize(
    ("error", "sentence", "status"),
    [
        (PermissionError(13, "Permission denied", "/x"), "/x: Permission denied.", 1),
        (KeyError("x\ny"), "Bug: KeyError: 'x\\ny' (RERIG_TRACEBACK=1 shows where).", 70),
        (SystemExit(3), "Stopped by SystemExit.", 1),
    ],
)
def test_whatever_breaks_on_one_machine_is_a_sentence(
    error: BaseException, sentence: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RERIG_TRACEBACK", raising=False)

    def work(_item: int) -> int:
        raise error

    answer = run_side_by_side({"a": 1}, work)["a"]
    assert isinstance(answer, UserError)
    assert (str(answer), answer.exit_status) == (sentence, status)


def test_all_are_worked_on_at_once() -> None:
    together = threading.Barrier(8)

    def work(_item: int) -> int:
        return together.wait(LIMIT_S)

    assert sorted(run_side_by_side({str(n): n for n in range(8)}, work).values()) == list(range(8))


def test_one_after_the_other_when_serial() -> None:
    order: list[str] = []

    def work(name: str, _item: None, _tell: Tell) -> None:
        order.append(f"begin {name}")
        order.append(f"end {name}")

    SideBySide(dict.fromkeys("abc"), work, lambda _name, _told: None).run(serial=True)
    assert order == [f"{word} {name}" for name in "abc" for word in ("begin", "end")]


def test_what_is_told_is_heard_in_the_callers_thread_before_the_answer() -> None:
    heard: list[tuple[str, Any, bool]] = []

    def hear(name: str, told: Any) -> None:
        heard.append((name, told, threading.current_thread() is threading.main_thread()))

    def work(name: str, item: int, tell: Tell) -> int:
        for number in range(item):
            tell(number)
        return item

    SideBySide({"a": 3}, work, hear, hear).run()
    assert heard == [("a", 0, True), ("a", 1, True), ("a", 2, True), ("a", 3, True)]


def test_a_signal_interrupts_the_wait_and_loses_no_answer() -> None:
    gate = threading.Event()

    def work(name: str, _item: None, tell: Tell) -> str:
        if name == "slow":
            tell("working")
            assert gate.wait(LIMIT_S)
        return name

    def send(name: str, _told: Any) -> None:
        assert name == "slow"
        os.kill(os.getpid(), signal.SIGTERM)

    group = SideBySide(dict.fromkeys(["quick", "slow"]), work, send)
    with handling((signal.SIGTERM,), lambda number, _frame: group.interrupt(number)):
        with pytest.raises(Interrupted) as caught:
            group.run()
        assert caught.value.number == signal.SIGTERM
        gate.set()
        group.wait_for({"quick", "slow"})
    assert group.answers == {"quick": "quick", "slow": "slow"}


def test_what_was_told_so_far_can_be_taken_without_waiting() -> None:
    told = threading.Event()
    gate = threading.Event()

    def work(_name: str, _item: None, tell: Tell) -> None:
        tell("a")
        told.set()
        gate.wait(LIMIT_S)

    heard: list[str] = []
    group = SideBySide({"x": None}, work, lambda _name, word: heard.append(word))
    group.interrupt(2)
    with pytest.raises(Interrupted):
        group.run()
    assert told.wait(LIMIT_S)
    group.take_the_rest()
    assert heard == ["a"]
    assert group.answers == {}
    gate.set()
    group.wait_for({"x"})

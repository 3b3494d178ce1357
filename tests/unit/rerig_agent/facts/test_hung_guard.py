from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from rerig_agent.facts import hung_guard
from rerig_agent.facts.hung_guard import run_bounded


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def wait_for_ever() -> None:
    signal.pause()


def test_the_value_comes_back_whole() -> None:
    value = {"name": "a\udcff\n", "list": ["x" * 300_000]}

    assert run_bounded(lambda: value, 30).value == value


def test_an_exception_in_the_child_is_an_error_and_not_raised_here() -> None:
    answer = run_bounded(lambda: 1 // 0, 30)

    assert answer.value is None
    assert answer.error is not None
    assert "ZeroDivisionError" in answer.error


def test_a_child_that_dies_is_an_error() -> None:
    answer = run_bounded(lambda: os.kill(os.getpid(), signal.SIGKILL), 30)

    assert (answer.value, answer.timed_out) == (None, False)
    assert answer.error is not None


def test_a_call_without_end_times_out_and_its_child_is_gone() -> None:
    answer = run_bounded(wait_for_ever, 0.05)

    assert answer.timed_out
    assert not answer.left_running
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_child_that_can_not_be_killed_is_left_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    children: list[int] = []
    monkeypatch.setattr(hung_guard, "_GRACE_S", 0.01)
    monkeypatch.setattr(hung_guard.os, "kill", lambda pid, _number: children.append(pid))

    answer = run_bounded(wait_for_ever, 0.05)
    monkeypatch.undo()

    assert answer.timed_out
    assert answer.left_running
    os.kill(children[0], signal.SIGKILL)
    assert os.waitpid(children[0], 0)[0] == children[0]


def test_the_child_holds_none_of_the_parents_files_open() -> None:
    with Path(os.devnull).open() as file:
        number = file.fileno()
        answer = run_bounded(lambda: [os.path.realpath(f"/proc/self/fd/{n}") for n in (0, 1, 2, number)], 30)

    assert answer.value[:3] == [os.devnull] * 3
    assert answer.value[3] == f"/proc/{answer.value[3].split('/')[2]}/fd/{number}"  # no such link any more


def test_the_agents_signal_handlers_do_not_run_in_the_child() -> None:
    previous = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        answer = run_bounded(lambda: signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, 30)
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, previous)

    assert answer.value is True


def test_signals_are_blocked_neither_in_the_child_nor_afterwards() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])

    answer = run_bounded(lambda: len(signal.pthread_sigmask(signal.SIG_BLOCK, [])), 30)

    assert answer.value == 0
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_a_thread_that_waits_is_no_reason_for_a_warning() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert run_bounded(lambda: "fine", 30).value == "fine"
    finally:
        done.set()
        thread.join()


def test_no_more_processes_is_an_error_and_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(hung_guard.os, "fork", refuse)
    before = open_files()

    answer = run_bounded(lambda: "never", 30)

    assert answer.error == "no child process: Resource temporarily unavailable"
    assert open_files() == before


def test_a_wish_to_stop_ends_the_waiting_and_the_child(tmp_path: Path) -> None:
    class StopWanted(BaseException):
        pass

    started = tmp_path / "pid"

    def wait_for_ever() -> None:
        started.write_text(str(os.getpid()))
        signal.pause()

    def tick() -> None:
        if started.exists() and started.read_text():
            raise StopWanted

    with pytest.raises(StopWanted):
        run_bounded(wait_for_ever, 60, tick)
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


def test_a_child_that_ends_with_the_user_s_wish_to_stop_is_no_failure() -> None:
    """Ctrl-C at a terminal reaches the child as well, and it may be the first to go."""

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_bounded(lambda: os.kill(os.getpid(), signal.SIGKILL), 60, stop)

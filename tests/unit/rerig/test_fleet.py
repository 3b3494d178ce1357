"""Several machines in one go: who shares a server, what a signal does, and which status is the worst."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from rerig import fleet, rerun
from rerig.errors import UserError
from rerig.fleet import Ended, measure_all, plan_all, shared_server_sentence, worst_status
from rerig.remote.agent import RemoteAgent
from rerig.rerun import Finished, Planned, Request
from rerig.runner import LocalAgent
from rerig.side_by_side import Tell

LIMIT_S = 60


def planned(*servers: str) -> Planned:
    return Planned({}, [], set(servers))


def test_machines_that_read_from_one_server_are_warned_of() -> None:
    plans = {"a": planned("nas"), "b": planned(), "c": planned("nas", "other"), "d": planned("third")}
    sentence = str(shared_server_sentence(plans))
    assert sentence.startswith("a and c read from the same server, and side by side they share its speed: --serial")
    plans["b"] = planned("other")
    assert str(shared_server_sentence(plans)).startswith("a, b and c read from")


def test_machines_with_servers_of_their_own_are_not() -> None:
    assert shared_server_sentence({"a": planned("nas"), "b": planned("other"), "c": planned()}) is None
    assert shared_server_sentence({"a": planned("nas")}) is None


@pytest.mark.parametrize(
    ("fs_type", "source", "servers"),
    [
        ("nfs4", "NAS:/export", {"nas"}),
        ("nfs", "[fd00::1]:/export", {"[fd00::1]"}),
        ("cifs", "//Nas/share", {"nas"}),
        ("fuse.sshfs", "someone@nas:/x", {"nas"}),
        ("ext4", "/dev/sda1", set()),
        ("nfs4", "odd", set()),
    ],
)
def test_a_server_is_known_by_what_is_mounted(fs_type: str, source: str, servers: set[str]) -> None:
    seen = {"evidence": {"mount": {"fs_type": fs_type, "source": source}}}
    assert rerun.servers_of({"targets": [seen], "scratch": None}) == servers
    assert rerun.servers_of({"targets": [{"evidence": None}], "scratch": seen}) == servers


def test_a_machine_that_can_not_be_planned_for_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def make_plan(agent: Any, _request: Request) -> Planned:
        if agent == "bad":
            raise UserError("Nothing can be measured.")
        return planned()

    monkeypatch.setattr(fleet.rerun, "make_plan", make_plan)
    found = plan_all({"a": "bad", "b": "good"}, Request())  # type: ignore[dict-item] # agents that are only told apart
    assert list(found.planned) == ["b"]
    assert {name: str(error) for name, error in found.failures.items()} == {"a": "Nothing can be measured."}


@pytest.mark.parametrize(
    ("ended", "failures", "status"),
    [
        (Ended(), {}, 0),
        (Ended({"a": Finished(None, 0)}), {}, 0),
        (Ended({"a": Finished(None, 0), "b": Finished(None, 75)}), {}, 75),
        (Ended({"a": Finished(None, 1), "b": UserError("x", 2)}), {}, 2),
        (Ended({"a": Finished(None, 0)}), {"b": UserError("x")}, 1),
        (Ended({"a": Finished(None, 0)}, signal=2), {}, 130),
        (Ended({"a": Finished(None, 75)}, signal=15), {"b": UserError("x", 69)}, 143),
    ],
)
def test_the_worst_status_counts_and_a_signal_is_the_worst(
    ended: Ended, failures: dict[str, UserError], status: int
) -> None:
    assert worst_status(ended, failures) == status


class Local(LocalAgent):
    """An agent here that ends when it is interrupted ``needed`` times."""

    def __init__(self, needed: int = 1) -> None:
        super().__init__(Path("agent.pyz"), "1", "0")
        self.signals: list[int] = []
        self.over = threading.Event()
        self._needed = needed

    def interrupt(self, number: int) -> None:
        self.signals.append(number)
        if len(self.signals) >= self._needed:
            self.over.set()


class Remote(RemoteAgent):
    """An agent elsewhere whose run goes on."""

    def __init__(self, run_id: str | None) -> None:
        self._run_id = run_id

    def going_on(self) -> str | None:
        return self._run_id and f"{self._run_id} goes on."


def measure(machines: dict[str, Any], signals: list[int], serial: bool = False) -> tuple[Ended, list[str]]:
    """Machines that work until they are interrupted or, elsewhere, for ever; ``quick`` ones end at once."""
    ends: list[str] = []

    def work(name: str, machine: Any, tell: Tell) -> Finished:
        if name.startswith("quick"):
            return Finished(None, 0)
        tell({"event": "begun"})
        if isinstance(machine, Local):
            assert machine.over.wait(LIMIT_S)
        else:
            threading.Event().wait(LIMIT_S)
        return Finished(None, 128 + machine.signals[-1])

    def on_event(_name: str, _event: Any) -> None:
        waiting = sum(not name.startswith("quick") for name in machines)
        begun.append(None)
        if len(begun) == (1 if serial else waiting):
            for number in signals:
                os.kill(os.getpid(), number)

    begun: list[None] = []
    return measure_all(machines, work, on_event, lambda name, _answer: ends.append(name), serial), ends


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_agent_here_and_leaves_the_others(number: int) -> None:
    here = Local()
    ended, ends = measure({"here": here, "box": Remote("r1"), "idle": Remote(None)}, [number])
    assert ended.signal == number
    assert here.signals == [number]
    assert ended.going_on == ["r1 goes on."]
    assert list(ended.finished) == ["here"] == ends


def test_further_signals_are_handed_on_until_the_agent_here_has_ended() -> None:
    here = Local(needed=2)
    ended, _ends = measure({"here": here}, [signal.SIGINT, signal.SIGTERM])
    assert sorted(here.signals) == [signal.SIGINT, signal.SIGTERM]
    assert list(ended.finished) == ["here"]


def test_after_a_signal_no_further_machine_is_begun() -> None:
    here, later = Local(), Local()
    ended, _ends = measure({"here": here, "later": later}, [signal.SIGINT], serial=True)
    assert list(ended.finished) == ["here"]
    assert later.signals == []


def test_signals_are_the_callers_again_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    measure({"quick": Remote(None)}, [])
    assert signal.getsignal(signal.SIGINT) is before

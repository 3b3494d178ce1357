"""When a machine counts as ready, which one that is on its way down is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from twin.errors import TwinError
from twin.machine import Machine


class GoingDown:
    """A shell that answers, and loses the next ``lost`` commands as the machine's sshd ends."""

    def __init__(self, lost: int) -> None:
        self.lost = lost
        self.said: list[str] = []

    def wait_ready(self, _limit_s: float) -> None:
        self.said.append("ready")

    def run(self, words: list[str], **_: Any) -> None:
        self.said.append(words[0])
        if self.lost:
            self.lost -= 1
            raise TwinError("On the twin, date failed (255): no word")

    def disconnect(self) -> None:
        self.said.append("disconnect")


def machine(shell: GoingDown, folder: Path, runs: bool = True) -> Machine:
    class Bare(Machine):
        def __init__(self) -> None:
            self.name, self.folder, self.shell = "bare", folder, shell  # type: ignore[assignment] # a double

        @property
        def runs(self) -> bool:
            return runs

    return Bare()


def test_a_machine_that_goes_down_is_waited_for_until_it_is_up_again(tmp_path: Path) -> None:
    shell = GoingDown(2)
    machine(shell, tmp_path).wait_ready(60)
    assert shell.said == ["ready", "date", "disconnect", "ready", "date", "disconnect", "ready", "date"]


def test_a_machine_that_never_comes_up_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(TwinError, match=r"^The twin bare does not answer after 0 s\.$"):
        machine(GoingDown(10**6), tmp_path).wait_ready(0.05)


def test_a_machine_that_has_ended_is_told_with_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "qemu.log").write_text("qemu: out of memory\n")
    with pytest.raises(TwinError, match=r"^The twin bare has ended: qemu: out of memory$"):
        machine(GoingDown(1), tmp_path, runs=False).wait_ready(60)

"""Machines that have a name: one of each, found again, gone when they should be. Here each is a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from twin import running
from twin.errors import TwinError
from twin.running import machine_folder, running_machine, running_names, started, stop_named


class Stub:
    """A machine that runs while its folder holds a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def stop(self) -> None:
        (self.folder / "runs").unlink()


def start(folder: Path) -> Any:
    assert list(folder.iterdir()) == []
    (folder / "runs").touch()
    return Stub(folder)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def find(folder: Path) -> Stub | None:
        return Stub(folder) if (folder / "runs").exists() else None

    monkeypatch.setenv("RERIG_TWIN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(running, "find_machine", find)
    return tmp_path / "cache"


def keep(name: str) -> None:
    with started(name, start, keep=True):
        pass


def test_a_kept_machine_is_found_by_its_name_until_it_is_stopped() -> None:
    keep("one")
    keep("two")
    assert running_machine("one").folder == machine_folder("one")
    assert running_names() == ["one", "two"]
    assert stop_named("one")
    assert running_names() == ["two"]
    assert not machine_folder("one").exists()
    assert not stop_named("one")


def test_a_machine_that_is_not_kept_ends_with_its_block() -> None:
    with started("one", start, keep=False):
        assert running_names() == ["one"]
    assert running_names() == []
    assert not machine_folder("one").exists()


@pytest.mark.parametrize("error", [TwinError("It does not answer."), KeyboardInterrupt()])
@pytest.mark.parametrize("keep", [True, False])
def test_a_machine_that_did_not_get_ready_is_stopped(keep: bool, error: BaseException) -> None:
    with pytest.raises(type(error)), started("one", start, keep=keep):
        raise error
    assert running_names() == []
    assert not machine_folder("one").exists()


def test_a_machine_that_did_not_start_leaves_no_folder() -> None:
    def fail(folder: Path) -> Any:
        (folder / "root.qcow2").touch()
        raise TwinError("qemu does not start.")

    with pytest.raises(TwinError, match="does not start"), started("one", fail, keep=True):
        pass
    assert not machine_folder("one").exists()


def test_one_that_runs_is_neither_replaced_nor_stopped_by_another_start() -> None:
    keep("one")
    with pytest.raises(TwinError, match="The twin one runs already"), started("one", start, keep=False):
        pass
    assert running_names() == ["one"]


def test_what_a_dead_machine_left_does_not_hinder_the_next() -> None:
    keep("one")
    (machine_folder("one") / "runs").unlink()
    keep("one")
    assert running_names() == ["one"]


def test_a_machine_that_does_not_run_is_told_with_those_that_do() -> None:
    with pytest.raises(TwinError, match=r"^No twin named one runs: \./inv twin\.boot or twin\.restore starts one\.$"):
        running_machine("one")
    keep("two")
    with pytest.raises(TwinError, match=r"^No twin named one runs; there is two\.$"):
        running_machine("one")


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", "-a", "a b", "é", ".lock", "a" * 41])
def test_a_name_that_could_be_a_path_or_a_flag_is_refused(name: str) -> None:
    with pytest.raises(TwinError, match="name is made of"):
        machine_folder(name)


def test_a_cache_that_cannot_be_written_is_told(cache: Path) -> None:
    cache.touch()
    with pytest.raises(TwinError, match="cache can't be written"):
        keep("one")

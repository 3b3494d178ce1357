"""Small files are whole or not there."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from rerig_agent.files import sync_directory, write_json


def test_a_file_holds_any_name_in_ascii(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"path": "한글\udcff"})
    assert json.loads((tmp_path / "x.json").read_text("ascii")) == {"path": "한글\udcff"}
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_a_full_disk_leaves_the_earlier_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write_json(tmp_path / "x.json", 1)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_json(tmp_path / "x.json", 2)
    assert (tmp_path / "x.json").read_text() == "1\n"
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_all_plain_files_and_the_folder_reach_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = []
    for name in ("a", "b"):
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("/nonexistent")
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.readlink(f"/proc/self/fd/{descriptor}")))
    sync_directory(tmp_path)
    real = os.path.realpath(str(tmp_path))
    assert sorted(synced) == [real, real + "/a", real + "/b"]


def test_a_file_system_that_syncs_no_folders_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_descriptor: int) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(os, "fsync", refuse)
    sync_directory(tmp_path)

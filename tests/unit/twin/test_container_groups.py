"""Control groups on machines of both versions, as folders of plain files."""

from __future__ import annotations

from pathlib import Path

import pytest

from twin.control_groups import ControlGroups, control_groups
from twin.errors import TwinError


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    folder = tmp_path / "proc"
    folder.mkdir()
    return folder


def hybrid(proc: Path, top: Path, own: str = "/session") -> ControlGroups:
    """Version 1 with blkio in a group of the caller's, and an empty version 2 beside it, as Debian 10 has it."""
    for name in ("blkio", "systemd", "unified"):
        (top / name / "session").mkdir(parents=True)
    (proc / "cgroup").write_text(f"2:blkio:{own}\n1:name=systemd:{own}\n0::{own}\n", "ascii")
    (proc / "mounts").write_text(
        f"proc /proc proc rw 0 0\nc {top}/blkio cgroup rw,blkio 0 0\nc {top}/systemd cgroup rw,xattr,name=systemd 0 0\n"
        f"c {top}/unified cgroup2 rw 0 0\n",
        "ascii",
    )
    return control_groups("ours", proc)


def unified(proc: Path, top: Path) -> ControlGroups:
    (proc / "cgroup").write_text("0::/user.slice/session.scope\n", "ascii")
    (proc / "mounts").write_text(f"cgroup2 {top} cgroup2 rw,nsdelegate 0 0\n", "ascii")
    return control_groups("ours", proc)


def test_a_group_of_version_1_lies_below_the_callers_and_one_of_version_2_at_the_top(
    proc: Path, tmp_path: Path
) -> None:
    groups = hybrid(proc, tmp_path)
    wanted = [tmp_path / "blkio/session/ours", tmp_path / "systemd/session/ours", tmp_path / "unified/ours"]
    assert groups.folders == wanted
    groups.make()
    assert all(folder.is_dir() for folder in wanted)
    groups.remove()
    assert not any(folder.exists() for folder in wanted)


@pytest.mark.parametrize("own", ["/../..", "/gone"])
def test_an_own_group_that_cannot_be_seen_is_no_parent(own: str, proc: Path, tmp_path: Path) -> None:
    assert hybrid(proc, tmp_path, own).folders[0] == tmp_path / "blkio/ours"


def test_groups_below_go_first(proc: Path, tmp_path: Path) -> None:
    groups = unified(proc, tmp_path)
    (tmp_path / "ours/payload/system.slice/ssh.service").mkdir(parents=True)
    groups.remove()
    assert not (tmp_path / "ours").exists()


def test_a_new_cpuset_of_version_1_gets_what_its_parent_has(tmp_path: Path) -> None:
    groups = ControlGroups("ours", (tmp_path,))
    (tmp_path / "ours").mkdir()
    for name, text in (("cpuset.cpus", "0-3\n"), ("cpuset.mems", "0\n")):
        (tmp_path / name).write_text(text, "ascii")
        (tmp_path / "ours" / name).touch()
    groups.make()
    assert (tmp_path / "ours/cpuset.cpus").read_text("ascii") == "0-3\n"
    assert (tmp_path / "ours/cpuset.mems").read_text("ascii") == "0\n"


def test_version_1_is_told_a_rate_in_every_group(proc: Path, tmp_path: Path) -> None:
    groups = hybrid(proc, tmp_path)
    top = tmp_path / "blkio/session/ours"
    (top / "below").mkdir(parents=True)
    (top / "blkio.throttle.read_bps_device").touch()
    groups.limit("7:1", {"bps_read": 1000, "iops_write": 5})
    for folder in (top, top / "below"):
        said = {path.name: path.read_text("ascii") for path in folder.glob("blkio.*")}
        assert said == {
            "blkio.throttle.read_bps_device": "7:1 1000",
            "blkio.throttle.write_bps_device": "7:1 0",
            "blkio.throttle.read_iops_device": "7:1 0",
            "blkio.throttle.write_iops_device": "7:1 5",
        }


def test_version_2_is_told_a_rate_once_and_hands_io_down(proc: Path, tmp_path: Path) -> None:
    groups = unified(proc, tmp_path)
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours/io.max").touch()
    groups.limit("7:1", {"bps_read": 1000})
    assert (tmp_path / "cgroup.subtree_control").read_text("ascii") == "+io"
    assert (tmp_path / "ours/io.max").read_text("ascii") == "7:1 rbps=1000 wbps=max riops=max wiops=max"


def test_what_a_machine_cannot_do_is_said(proc: Path, tmp_path: Path) -> None:
    (proc / "cgroup").write_text("", "ascii")
    (proc / "mounts").write_text("proc /proc proc rw 0 0\n", "ascii")
    with pytest.raises(TwinError, match="no control groups mounted"):
        control_groups("ours", proc)
    groups = unified(proc, tmp_path)
    groups.make()
    with pytest.raises(TwinError, match=r"limit no block device: there is neither blkio nor io.max"):
        groups.limit("7:1", {})
    (tmp_path / "cgroup.subtree_control").unlink()
    (tmp_path / "cgroup.subtree_control").mkdir()
    with pytest.raises(TwinError, match=r"sets no rate of 7:1: .*cgroup.subtree_control: Is a directory"):
        groups.limit("7:1", {})

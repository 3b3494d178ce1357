"""Every kind of contents is what it claims to be, in the eyes of tools that had no part in writing it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from twin import contents
from twin.contents import layouts, sparse
from twin.contents.sparse import MIB
from twin.errors import TwinError

BYTES = contents.MINIMUM_BYTES
# Where something lies: in the first MiB, in the last one, between them.
PLACES = {
    "blank": "",
    **dict.fromkeys(("mbr", "lvm-pv", "swap", "bcache", "md-member", "md-member-1.1", "fat", "first-mib"), "first"),
    **dict.fromkeys(("md-member-1.0", "md-member-0.90", "last-mib", "last-mib-gpt"), "last"),
    **dict.fromkeys(("gpt-no-partition", "gpt-empty-partition", "ntfs", "zfs"), "first last"),
    **dict.fromkeys(("ext4", "luks", "luks1", "btrfs", "xfs"), "first between"),
    **dict.fromkeys(("gpt-windows-free", "gpt-linux-free"), "first between last"),
}

pytestmark = pytest.mark.usefixtures("disk_tools")


@pytest.mark.parametrize("kind", contents.KINDS)
def test_blkid_calls_a_whole_disk_what_it_is(kind: str, tmp_path: Path) -> None:
    disk = _written(tmp_path, kind)
    assert _sign(disk) == contents.SIGNS[kind]


@pytest.mark.parametrize("table", ["gpt", "mbr"])
@pytest.mark.parametrize("kind", contents.INSIDE_KINDS)
def test_blkid_calls_a_partition_what_it_is(kind: str, table: layouts.Table, tmp_path: Path) -> None:
    disk = _written(tmp_path, kind, inside_partition=True, table=table)
    (part,) = _table(disk)["partitions"]
    assert _sign(disk, part["start"] * 512, part["size"] * 512) == contents.SIGNS[kind]
    assert _sign(disk) == {"gpt": "gpt", "mbr": "dos"}[table]


@pytest.mark.parametrize("kind", contents.KINDS)
def test_wipefs_finds_as_much_as_blkid(kind: str, tmp_path: Path) -> None:
    found = json.loads(_said("wipefs", "--no-act", "--json", _written(tmp_path, kind)))["signatures"]
    expected = "gpt" if kind == "last-mib-gpt" else contents.SIGNS[kind]
    assert expected in [one["type"] for one in found] if expected else not found


@pytest.mark.parametrize("kind", contents.KINDS)
def test_bytes_lie_only_where_they_should(kind: str, tmp_path: Path) -> None:
    used = sparse.used(_written(tmp_path, kind))
    found = {
        "first": any(start < MIB for start, _ in used),
        "between": any(end > MIB and start < BYTES - MIB for start, end in used),
        "last": any(end > BYTES - MIB for _, end in used),
    }
    assert " ".join(place for place in found if found[place]) == PLACES[kind]


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("kind", contents.INSIDE_KINDS)
def test_the_same_seed_gives_the_same_disk_and_another_seed_another(kind: str, inside: bool, tmp_path: Path) -> None:
    prints = []
    for seed in ("one", "one", "two"):
        disk = _written(tmp_path, kind, inside_partition=inside, seed=seed)
        prints.append(contents.fingerprint(disk))
    assert prints[0] == prints[1]
    assert prints[0] != prints[2]


@pytest.mark.parametrize("kind", layouts.LAYOUTS)
def test_the_same_seed_gives_the_same_partitions(kind: str, tmp_path: Path) -> None:
    prints = [contents.fingerprint(_written(tmp_path, kind, seed=seed)) for seed in ("one", "one", "two")]
    assert prints[0] == prints[1]
    assert prints[0] != prints[2]


def test_what_was_there_before_is_gone(tmp_path: Path) -> None:
    for kind in ("ext4", "md-member-1.0"):
        _written(tmp_path, kind)
    assert _sign(_written(tmp_path, "blank")) == ""
    assert sparse.used(tmp_path / "disk") == []


def test_a_disk_takes_hardly_any_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    contents.write("gpt-windows-free", disk, 64 * 1024 * MIB)
    assert disk.stat().st_size == 64 * 1024 * MIB
    assert disk.stat().st_blocks * 512 < MIB


def test_windows_has_a_system_and_a_reserved_partition_and_leaves_half_of_the_disk_free(tmp_path: Path) -> None:
    disk = _written(tmp_path, "gpt-windows-free")
    found = _table(disk)["partitions"]
    assert [part["type"] for part in found] == [
        "C12A7328-F81F-11D2-BA4B-00A0C93EC93B",
        "E3C9E316-0B5C-4DB8-817D-F92DF00215AE",
        "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7",
    ]
    signs = [_sign(disk, part["start"] * 512, part["size"] * 512) for part in found]
    assert signs == ["vfat", "", "ntfs"]
    assert (found[2]["start"] + found[2]["size"]) * 512 == BYTES // 2


def test_linux_leaves_half_of_the_disk_free(tmp_path: Path) -> None:
    disk = _written(tmp_path, "gpt-linux-free")
    (part,) = _table(disk)["partitions"]
    assert _sign(disk, part["start"] * 512, part["size"] * 512) == "ext4"
    assert (part["start"] + part["size"]) * 512 == BYTES // 2


@pytest.mark.parametrize("kind", ["gpt-empty-partition", "mbr"])
def test_an_empty_partition_is_empty(kind: str, tmp_path: Path) -> None:
    disk = _written(tmp_path, kind)
    (part,) = _table(disk)["partitions"]
    assert (part["start"] * 512, part["size"] * 512) == (MIB, BYTES - 2 * MIB)
    assert not [start for start, end in sparse.used(disk) if end > MIB and start < BYTES - MIB]


def test_what_is_left_of_a_gpt_is_its_copy_alone(tmp_path: Path) -> None:
    (table,) = sparse.used(_written(tmp_path, "last-mib-gpt"))[-1:]
    with (tmp_path / "disk").open("rb") as file:
        file.seek(BYTES - 512)
        assert file.read(8) == b"EFI PART"
    assert table == (BYTES - 4096, BYTES)


@pytest.mark.parametrize(
    ("kind", "judge", "says"),
    [
        ("ext4", "e2fsck -f -n", "15/32768 files"),
        ("btrfs", "btrfs check", "no error found"),
        ("fat", "fsck.vfat -n", "1 files, 0/65399 clusters"),
        ("lvm-pv", "pvck --dump headers", "mda_header_1.version 1"),
        ("luks", "cryptsetup luksDump", "cipher: aes-xts-plain64"),
        ("luks1", "cryptsetup luksDump", "Key Slot 0: ENABLED"),
        ("md-member", "mdadm --examine", "- correct"),
        ("md-member-1.1", "mdadm --examine", "- correct"),
        ("md-member-1.0", "mdadm --examine", "- correct"),
        ("md-member-0.90", "mdadm --examine", "- correct"),
        ("bcache", "bcache-super-show", "sb.version\t\t1 [backing device]"),
    ],
)
def test_the_tool_whose_format_it_is_accepts_it(kind: str, judge: str, says: str, tmp_path: Path) -> None:
    assert says in _said(*judge.split(), _written(tmp_path, kind))


def test_ext4_has_files_in_it(tmp_path: Path) -> None:
    disk = _written(tmp_path, "ext4")
    assert _said("debugfs", "-R", "cat /photos/2019/beach.txt", disk) == "Not to be lost.\n"


def test_a_missing_tool_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TwinError, match=r"^sfdisk is missing; .*\bfdisk\b"):
        _written(tmp_path, "mbr")


def test_a_tool_that_fails_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin" / "mkswap"
    tool.write_text("#!/bin/sh\necho 'mkswap: no' >&2\nexit 1\n", "utf-8")
    tool.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
        with pytest.raises(TwinError, match=r"^Filling the disk failed: mkswap: mkswap: no"):
            _written(tmp_path, "swap")


@pytest.mark.parametrize(("kind", "inside"), [("nonsense", False), ("nonsense", True), ("mbr", True), ("blank", True)])
def test_there_is_no_such_kind(kind: str, inside: bool, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^{kind} is no kind of contents"):
        contents.write(kind, tmp_path / "disk", BYTES, inside_partition=inside)


@pytest.mark.parametrize(
    ("kind", "size", "says"),
    [
        ("mbr", BYTES - 512, "A disk that is not blank has at least 128 MiB."),
        ("mbr", BYTES + 100, "A disk has whole sectors of 512 bytes, and 134217828 bytes aren't."),
        ("blank", 0, "A disk has whole sectors of 512 bytes, and 0 bytes aren't."),
    ],
)
def test_a_size_that_no_disk_has_is_refused(kind: str, size: int, says: str, tmp_path: Path) -> None:
    with pytest.raises(TwinError) as refusal:
        contents.write(kind, tmp_path / "disk", size)
    assert str(refusal.value) == says
    assert not (tmp_path / "disk").exists()


def test_a_blank_disk_may_be_small(tmp_path: Path) -> None:
    contents.write("blank", tmp_path / "disk", 512)
    assert (tmp_path / "disk").read_bytes() == bytes(512)


def _written(folder: Path, kind: str, **more: object) -> Path:
    contents.write(kind, folder / "disk", BYTES, **more)
    return folder / "disk"


def _sign(disk: Path, offset: int = 0, length: int = BYTES) -> str:
    """TYPE, else PTTYPE, as blkid sees these bytes of the disk; "" for nothing."""
    words = ["blkid", "--probe", "--output", "export", "--offset", str(offset), "--size", str(length), str(disk)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode in (0, 2), done.stderr  # 2: nothing was found; 8: several things that can't be at once
    found = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    return found.get("TYPE") or found.get("PTTYPE", "")


def _table(disk: Path) -> dict[str, list[dict[str, object]]]:
    return json.loads(_said("sfdisk", "--json", disk))["partitiontable"]


def _said(*words: str | Path) -> str:
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, env=None, close_fds=True)
    assert done.returncode == 0, done.stderr
    return done.stdout

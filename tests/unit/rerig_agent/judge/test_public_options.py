from __future__ import annotations

import pytest

from rerig_agent.judge.public_options import (
    matching,
    non_negative,
    public_fs_type,
    public_nfs,
    public_options,
    public_smb,
)


def test_known_flags_and_numbers_pass_in_order_and_once() -> None:
    assert public_options(["rw", "relatime"], ["rw", "rsize=131072", "vers=4.2", "compress=zstd:3"]) == [
        "rw",
        "relatime",
        "rsize=131072",
        "vers=4.2",
        "compress=zstd:3",
    ]


@pytest.mark.parametrize(
    "option",
    [
        "addr=192.0.2.7",
        "clientaddr=192.0.2.9",
        "mountaddr=192.0.2.7",
        "source=//nas/share",
        "unc=\\\\nas\\share",
        "username=someone",
        "domain=WORKGROUP",
        "credentials=/root/.smb",
        "subvol=/@home",
        "lowerdir=/home/x",
        "upperdir=/home/x",
        "uid=1000",
        "aname=/home/x",
        "jqfmt=vfsv0",
        "rsize=12x",
        "rsize=1\n2",
        "rsize=",
        "rsize=1234567890123",
        "vers=nas.example.net",
        "sec=someone",
        "cache=someone",
        "compress=/home/x",
        "data=someone",
        "RW",
        "",
    ],
)
def test_what_names_someone_or_is_unknown_is_left_out(option: str) -> None:
    assert public_options([option]) == []


def test_what_is_no_list_of_texts_is_left_out() -> None:
    assert public_options(None, "rw", [1, None, ["rw"], "ro"]) == ["ro"]


@pytest.mark.parametrize(
    ("fs_type", "shown"),
    [
        ("ext4", "ext4"),
        ("9p", "9p"),
        ("fuse.sshfs", "fuse.sshfs"),
        ("fuse.someones-own", "fuse"),
        ("fuse.Some.AppImage", "fuse"),
        ("fuseblk.ntfs-3g", "fuseblk.ntfs-3g"),
        ("someonesfs", "unknown"),
        ("ext4.x", "unknown"),
        ("", "unknown"),
        (None, "unknown"),
    ],
)
def test_file_systems_keep_the_names_that_everybody_knows(fs_type: str | None, shown: str) -> None:
    assert public_fs_type(fs_type) == shown


def test_nfs_values_that_look_wrong_are_none() -> None:
    parsed = {"version": "4.2; rm", "rsize": -1, "wsize": True, "proto": "nas", "hard": "yes", "nconnect": 8}

    shown = public_nfs(parsed)

    assert shown.pop("nconnect") == 8
    assert set(shown.values()) == {None}


def test_smb_has_one_channel_unless_it_is_asked_for_more() -> None:
    assert public_smb(["vers=3.1.1", "max_channels=4"])["channels"] == 1
    assert public_smb(["multichannel", "max_channels=4"])["channels"] == 4
    assert public_smb([]) == {
        "version": None,
        "cache": None,
        "rsize": None,
        "wsize": None,
        "hard": False,
        "channels": 1,
    }


def test_only_whole_texts_match() -> None:
    assert matching("tcp", "tcp") == "tcp"
    assert matching("tcp\n", "tcp") is None
    assert matching(["tcp"], "tcp") is None


def test_only_counts_that_json_holds_exactly_pass() -> None:
    assert [non_negative(value) for value in (0, 2**53 - 1, 2**53, -1, True, 1.0)] == [
        0,
        2**53 - 1,
        None,
        None,
        None,
        None,
    ]

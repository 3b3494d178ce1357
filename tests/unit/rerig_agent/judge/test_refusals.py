from __future__ import annotations

from typing import Any

import pytest

from rerig_agent.judge.known_evidence import read_evidence
from rerig_agent.judge.refusals import Refusal, refusal

GIB = 2**30


def refused(fs_type: str = "ext4", **evidence: Any) -> Refusal | None:
    given = {"path": "/data/secret folder/a.bin", "kind": "file", "size_bytes": GIB, "allocated_bytes": GIB}
    given["mount"] = {"fs_type": fs_type}
    return refusal(read_evidence({**given, **evidence}))


def code(fs_type: str = "ext4", **evidence: Any) -> str | None:
    found = refused(fs_type, **evidence)
    return None if found is None else found.code


def test_an_honest_file_is_not_refused() -> None:
    assert refused() is None
    assert refused("fuse.sshfs") is None


@pytest.mark.parametrize(
    ("size", "expected"), [(0, "empty"), (1, "too_small"), (4095, "too_small"), (4096, None), (None, None)]
)
def test_a_file_needs_one_block(size: int | None, expected: str | None) -> None:
    assert code(size_bytes=size, allocated_bytes=size) == expected


@pytest.mark.parametrize(
    "kind", ["directory", "fifo", "socket", "block_device", "char_device", "dangling_link", "missing"]
)
def test_what_is_no_file_is_refused_with_its_base_name_only(kind: str) -> None:
    found = refused(kind=kind)

    assert found is not None
    assert found.code == kind
    assert found.sentence.startswith('"a.bin" ')
    assert "secret folder" not in found.sentence


def test_an_unreadable_file_gives_the_systems_reason_if_there_is_one() -> None:
    denied, unknown = refused(kind="unreadable", errno=13), refused(kind="unreadable", errno=None)

    assert denied is not None
    assert unknown is not None
    assert denied.sentence == '"a.bin" can\'t be read: Permission denied.'
    assert unknown.sentence == '"a.bin" can\'t be read.'


def test_an_unknown_kind_counts_as_unreadable() -> None:
    assert code(kind="wormhole") == "unreadable"


def test_a_hung_file_says_when_a_process_is_left_behind() -> None:
    alone, left = refused(kind="hung"), refused(kind="hung", process_left=True)

    assert alone is not None
    assert left is not None
    assert "can't be killed" not in alone.sentence
    assert "can't be killed" in left.sentence


@pytest.mark.parametrize(
    ("fs_type", "allocated", "expected"),
    [
        ("ext4", int(GIB * 0.98), "sparse"),
        ("ext4", int(GIB * 0.995), None),
        ("xfs", 0, "sparse"),
        ("nfs4", int(GIB * 0.7), None),  # the server compresses
        ("nfs4", 512, "sparse"),  # a file of zeros on such a server
        ("fuse.sshfs", 0, None),  # no such count there
        ("zfs", int(GIB * 0.7), None),
        ("zfs", 512, "sparse"),
    ],
)
def test_few_stored_bytes_are_refused_as_far_as_the_count_can_be_trusted(
    fs_type: str, allocated: int, expected: str | None
) -> None:
    assert code(fs_type, allocated_bytes=allocated) == expected


@pytest.mark.parametrize(("holes", "expected"), [(0, None), (GIB // 200, None), (GIB // 50, "sparse"), (GIB, "sparse")])
def test_holes_are_refused_on_every_file_system(holes: int, expected: str | None) -> None:
    assert code("nfs4", hole_bytes=holes) == expected


def test_a_compressed_file_takes_fewer_bytes_without_being_sparse() -> None:
    assert code("btrfs", encoded=True, allocated_bytes=int(GIB * 0.7)) is None
    assert code("btrfs", encoded=False, allocated_bytes=int(GIB * 0.7)) == "sparse"


def test_memory_below_an_overlay_counts_only_where_the_file_lies_or_nobody_knows() -> None:
    below = {"lower_mounts": [{"fs_type": "ext4"}, {"fs_type": "tmpfs"}]}

    assert code("overlay", **below, data_mounts=[{"fs_type": "tmpfs"}]) == "overlay_on_ram"
    assert code("overlay", **below, data_mounts=[{"fs_type": "ext4"}]) is None
    assert code("overlay", **below, unresolved=["overlay_layer"]) == "overlay_on_ram"


def test_the_kind_of_file_is_refused_before_its_file_system_and_that_before_its_size() -> None:
    assert code("tmpfs", kind="directory") == "directory"
    assert code("tmpfs", size_bytes=0) == "ram_file_system"

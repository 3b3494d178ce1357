from __future__ import annotations

from typing import Any

import pytest

from rerig_agent.judge.known_evidence import read_evidence
from rerig_agent.judge.proof_source import PROOF_REASONS, ProofSource, proof_source


def device(name: str, *slaves: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "slaves": list(slaves), **more}


def proven(chain: list[dict[str, Any]], fs_type: str = "ext4", options: str = "rw", **more: Any) -> ProofSource:
    mount = {"fs_type": fs_type, "super_options": options.split(",")}
    first = [chain[0]["name"]] if chain else []
    return proof_source(
        read_evidence({"mount": mount, "block_chain": chain, "file_system_devices": first, "kind": "file", **more})
    )


SDA = device("sda", transport="ata")
SDB = device("sdb", transport="ata")
SDA1 = device("sda1", transport="ata", partition_of="sda")
HIDDEN = device("dm-1", "sda", transport="dm", dm_kind="lvm")


@pytest.mark.parametrize(
    ("chain", "counted"),
    [
        ([SDA], "sda"),
        ([SDA1, SDA], "sda1"),
        ([device("dm-0", "sda1", transport="dm", dm_kind="crypt"), SDA1, SDA], "sda1"),
        ([device("dm-0", "dm-1", transport="dm", dm_kind="lvm"), HIDDEN, SDA], "sda"),
        ([device("dm-0", "sda", "sdb", transport="dm", dm_kind="lvm"), SDA, SDB], "dm-0"),
        ([device("dm-0", "sda", "sdb", transport="dm", dm_kind="multipath"), SDA, SDB], "dm-0"),
        ([device("md0", "sda", "sdb", transport="md", md_level="raid0"), SDA, SDB], "md0"),
        ([device("md0", "sda", "sdb", transport="md", md_level="linear"), SDA, SDB], "md0"),
        ([device("md0p1", partition_of="md0", transport="md", md_level="raid0"),
          device("md0", "sda", "sdb", transport="md", md_level="raid0"), SDA, SDB], "md0"),
    ],
)  # fmt: skip
def test_the_lowest_device_that_all_bytes_pass_is_counted(chain: list[dict[str, Any]], counted: str) -> None:
    assert proven(chain) == ProofSource("block", counted, None)


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ([], "device_unresolved"),
        ([device("md0", "sda", "sdb", transport="md", md_level="raid1"), SDA, SDB], "raid_redundancy"),
        ([device("md0", "sda", transport="md", md_level="raid6"), SDA], "raid_redundancy"),
        ([device("md0", "sda", transport="md", md_level=None), SDA], "raid_redundancy"),
        ([device("dm-0", "sda", "sdb", transport="dm", dm_kind="lvm_raid"), SDA, SDB], "raid_redundancy"),
        ([device("dm-0", "sda", "sdb", transport="dm", dm_kind="lvm_cache"), SDA, SDB], "cache_tier"),
        ([device("bcache0", "sda", "sdb", transport="bcache"), SDA, SDB], "cache_tier"),
        ([device("dm-0", "sda", transport="dm", dm_kind="vdo"), SDA], "compressed_file_system"),
        ([device("zd0", transport="zvol")], "zfs"),
        ([device("pmem0", transport="pmem")], "persistent_memory"),
        ([device("sda", transport="ata", counts_io=False)], "counters_off"),
    ],
)
def test_devices_that_prove_nothing(chain: list[dict[str, Any]], reason: str) -> None:
    assert proven(chain) == ProofSource("none", None, reason)


@pytest.mark.parametrize(
    ("fs_type", "options", "reason"),
    [
        ("btrfs", "rw,compress=zstd:3", "compressed_file_system"),
        ("btrfs", "rw,compress-force=lzo", "compressed_file_system"),
        ("f2fs", "rw,compress_algorithm=lz4", "compressed_file_system"),
        ("bcachefs", "rw", "compressed_file_system"),
        ("squashfs", "ro", "compressed_file_system"),
        ("erofs", "ro", "compressed_file_system"),
        ("xfs", "rw,rtdev=/dev/sdb", "several_devices"),
        ("zfs", "rw", "zfs"),
        ("9p", "rw", "host_share"),
        ("virtiofs", "rw", "host_share"),
        ("cifs", "rw", "smb"),
        ("fuseblk", "rw", "fuse"),
        ("ceph", "rw", "network_file_system"),
    ],
)
def test_file_systems_that_prove_nothing(fs_type: str, options: str, reason: str) -> None:
    assert proven([SDA], fs_type, options) == ProofSource("none", None, reason)


def test_a_compressed_file_of_a_btrfs_that_compresses_no_more_proves_nothing() -> None:
    assert proven([SDA], "btrfs").source == "block"
    assert proven([SDA], "btrfs", encoded=True).reason == "compressed_file_system"


def test_what_lies_under_a_loop_devices_file_counts_too() -> None:
    chain = [device("loop0", "sda", transport="loop"), SDA]

    assert proven(chain, data_mounts=[{"fs_type": "ext4"}]).device == "sda"
    compressing = {"fs_type": "btrfs", "super_options": ["compress=zstd"]}
    assert proven(chain, data_mounts=[compressing]).reason == "compressed_file_system"


def test_nfs_is_proven_by_its_own_counters_unless_a_loop_device_lies_over_it() -> None:
    assert proven([], "nfs4") == ProofSource("nfs", None, None)
    assert proven([], "overlay", data_mounts=[{"fs_type": "nfs"}]) == ProofSource("nfs", None, None)
    looped = proven([device("loop0", transport="loop")], data_mounts=[{"fs_type": "nfs4"}])
    assert looped.reason == "loop_backing_not_block"


def test_a_chain_that_runs_in_circles_ends() -> None:
    chain = [device("dm-0", "dm-1", transport="dm"), device("dm-1", "dm-0", transport="dm")]

    assert proven(chain).source == "block"


def test_every_reason_has_words_without_a_full_stop() -> None:
    for code, words in PROOF_REASONS.items():
        assert code.replace("_", "").isalpha()
        assert words[-1] != "."

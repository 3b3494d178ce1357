"""The proof of bytes: both of its doubts, their limits, and where nothing can be proved."""

from __future__ import annotations

import pytest

from raw_runs import GIB, block_classified, nfs_classified, record, snapshot
from rerig.proof import prove_bytes


def verdict(read_bytes: int, delivered_sectors: int) -> str:
    what = record(snapshot(sectors=1000), snapshot(sectors=1000 + delivered_sectors))
    return str(prove_bytes(read_bytes, block_classified(), what)["verdict"])


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.0, "served_from_cache"),
        (0.5, "served_from_cache"),
        (0.989, "served_from_cache"),
        (0.991, "delivered"),
        (1.0, "delivered"),
        (1.019, "delivered"),
        (1.021, "extra_traffic"),
        (2.0, "extra_traffic"),
    ],
)
def test_below_99_percent_is_a_cache_and_above_102_percent_is_other_traffic(share: float, expected: str) -> None:
    assert verdict(GIB, int(GIB * share) // 512) == expected


def test_sectors_are_512_bytes_whatever_the_disk_calls_a_block() -> None:
    what = record(snapshot(sectors=0), snapshot(sectors=2048))
    assert prove_bytes(2**20, block_classified(), what) == {
        "verdict": "delivered",
        "delivered_bytes": 2**20,
        "ratio": 1.0,
    }


def test_an_odd_size_that_is_rounded_up_to_a_block_is_delivered() -> None:
    # 314,572,803 bytes asked, 314,576,896 from the device; the same rounding on a tiny file is more than 2 %.
    assert verdict(314_572_803, 314_576_896 // 512) == "delivered"
    assert verdict(5_000, 8_192 // 512) == "delivered"


def test_a_device_that_is_not_counted_proves_nothing() -> None:
    what = record(snapshot("vdb"), snapshot("vdb", sectors=99))
    assert prove_bytes(GIB, block_classified(), what)["verdict"] == "not_decidable"


def test_a_device_that_went_backwards_proves_nothing() -> None:
    what = record(snapshot(sectors=5000, reads=9), snapshot(sectors=10, reads=1))
    assert prove_bytes(GIB, block_classified(), what)["verdict"] == "not_decidable"


@pytest.mark.parametrize("reason", ["the file system is compressed", "RAID"])
def test_without_a_source_of_proof_nothing_is_decided(reason: str) -> None:
    classified = block_classified(proof={"source": "none", "device": None, "reason": reason})
    what = record(snapshot(), snapshot(sectors=GIB // 512))
    assert prove_bytes(GIB, classified, what) == {"verdict": "not_decidable", "delivered_bytes": None, "ratio": None}


def mountstats(server_read: int) -> str:
    zeros = "0 0 0 0 0 0 0 0"
    return (
        "device server:/export mounted on /mnt/nas with fstype nfs4 statvers=1.1\n"
        "\topts:\trw,vers=4.1,rsize=131072,wsize=131072,hard,proto=tcp\n"
        "\tage:\t100\n"
        f"\tbytes:\t0 0 {server_read} 0 {server_read} 0 0 0 \n"
        "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
        "\txprt:\ttcp 800 1 1 0 0 10 10 0 10 0 2 0 0\n"
        "\tper-op statistics\n"
        f"\t        READ: {server_read // 131072} {server_read // 131072} 0 100 {server_read} 10 2000 2500 0\n"
        f"\t       WRITE: {zeros} 0\n"
    )


def nfs_snapshot(server_read: int) -> dict[str, object]:
    return {"monotonic_s": 1.0, "block": {}, "mountstats": mountstats(server_read), "net_dev": None}


def test_an_nfs_read_is_proved_by_the_servers_bytes() -> None:
    what = record(nfs_snapshot(131072), nfs_snapshot(131072 + GIB))
    assert prove_bytes(GIB, nfs_classified(), what)["verdict"] == "delivered"


def test_an_nfs_read_that_the_client_cached_is_seen() -> None:
    what = record(nfs_snapshot(131072), nfs_snapshot(131072 * 2))
    proof = prove_bytes(GIB, nfs_classified(), what)
    assert proof["verdict"] == "served_from_cache"
    assert proof["delivered_bytes"] == 131072


def test_a_mount_that_was_mounted_anew_proves_nothing() -> None:
    what = record(nfs_snapshot(131072 + GIB), nfs_snapshot(131072))
    assert prove_bytes(GIB, nfs_classified(), what) == {
        "verdict": "not_decidable",
        "delivered_bytes": None,
        "ratio": None,
    }


def test_a_mount_without_statistics_proves_nothing() -> None:
    what = record({**nfs_snapshot(0), "mountstats": None}, nfs_snapshot(GIB))
    assert prove_bytes(GIB, nfs_classified(), what)["verdict"] == "not_decidable"

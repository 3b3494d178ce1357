from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.judge.classify import classify
from rerig_agent.judge.proof_source import PROOF_REASONS

SECRETS = (
    "5ecre7host",
    "5ecre7user",
    "/home/5ecre7user",
    "5ecre7nas.example.net",
    "5ecre7nas:/volume1/5ecre7export",
    "192.0.2.77",
    "2001:db8::77",
    "02:00:5e:00:53:77",
    "5ECRE7SERIAL",
    "c0ffee00-5ec2-4e70-9d2b-5ec2e7000000",
    "vg--5ecre7-home",
    "md_5ecre7",
    "enx02005e005377",
)
FRAGMENTS = re.compile(r"5ecre7|192\.0\.2|2001:db8|02:00:5e|02005e|c0ffee00", re.IGNORECASE)

MOUNT = {
    "mount_id": 30,
    "parent_id": 1,
    "dev": "0:50",
    "root": "/",
    "mount_point": "/mnt/nas",
    "options": ["rw", "relatime"],
    "fs_type": "nfs4",
    "source": "nas:/export",
    "super_options": ["rw", "vers=4.2", "rsize=1048576", "hard", "proto=tcp", "addr=192.0.2.7"],
}
DEVICE = {
    "name": "nvme0n1p2",
    "dev": "259:2",
    "partition_of": "nvme0n1",
    "size_bytes": 1000,
    "rotational": False,
    "logical_block_bytes": 512,
    "model": "Some SSD",
    "transport": "nvme",
    "pci_vendor": "0x144d",
    "dm_kind": None,
    "md_level": None,
    "read_ahead_kb": 128,
    "scheduler": "none",
    "max_sectors_kb": 128,
    "counts_io": True,
    "pcie": {"speed": "8.0 GT/s PCIe", "width": 4, "max_speed": "8.0 GT/s PCIe", "max_width": 4},
    "slaves": [],
    "is_multipath_head": False,
    "loop_backing_path": None,
    "loop_direct": None,
}
EVIDENCE: dict[str, Any] = {
    "path": "/mnt/nas/a.bin",
    "real_path": "/mnt/nas/a.bin",
    "kind": "file",
    "errno": None,
    "size_bytes": 2**30,
    "allocated_bytes": 2**30,
    "hole_bytes": 0,
    "encoded": False,
    "process_left": False,
    "dev": "0:50",
    "mount": MOUNT,
    "lower_mounts": [],
    "data_mounts": [],
    "unresolved": [],
    "file_system_devices": ["nvme0n1p2"],
    "block_chain": [DEVICE, dict(DEVICE, name="nvme0n1", partition_of=None)],
    "network": {
        "server_address": "192.0.2.7",
        "interface": "eth0",
        "speed_mbit": 1000,
        "mtu": 1500,
        "kind": "ethernet",
    },
    "hypervisor": False,
    "read_ahead_kb": 128,
    "direct_alignment_bytes": 512,
    "owner_or_writable": True,
}
KEYS = {
    "storage_class",
    "medium",
    "refusal",
    "refusal_code",
    "proof",
    "count_devices",
    "unseen_caches",
    "file_system",
    "devices",
    "link",
}

WORDS = (
    "file directory hung missing nfs4 nfs cifs btrfs overlay tmpfs fuse.sshfs 9p zfs ext4 loop md dm zram virtio iscsi"
    " nvme raid1 lvm overlay_layer loop_backing device mount nvme0n1 sda rw vers=4.2 rsize=1 compress=zstd hard soft"
).split(" ")
junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(WORDS), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from([*DEVICE, *MOUNT, "mtu"]), inner, max_size=5)
    ),
    max_leaves=12,
)
devices = st.fixed_dictionaries(
    {"name": st.sampled_from(WORDS)}, optional={key: junk for key in DEVICE if key != "name"}
)
mounts = st.fixed_dictionaries({"fs_type": st.sampled_from(WORDS)}, optional={"super_options": junk, "options": junk})
partial = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(EVIDENCE, junk),
        "kind": st.sampled_from(["file", "file", "hung", "directory", "?"]),
        "mount": st.one_of(mounts, junk),
        "data_mounts": st.one_of(st.lists(mounts, max_size=3), junk),
        "block_chain": st.one_of(st.lists(devices, max_size=5), junk),
    },
)


@given(partial)
def test_partial_evidence_never_raises_and_gives_every_key(evidence: dict[str, Any]) -> None:
    judged = classify(evidence)

    assert set(judged) == KEYS
    assert (judged["refusal"] is None) == (judged["refusal_code"] is None)
    assert (judged["proof"]["source"] == "none") == (judged["proof"]["reason"] in PROOF_REASONS)
    assert judged["proof"]["source"] != "block" or judged["proof"]["device"] in judged["count_devices"]
    assert json.loads(json.dumps(judged)) == judged
    json.dumps(judged, ensure_ascii=False).encode("utf-8")


@given(junk)
def test_evidence_of_any_type_is_refused_and_never_raises(evidence: Any) -> None:
    assert classify(evidence)["refusal"] is not None


def planted(value: Any, secret: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """The evidence with any of its texts replaced by, or run together with, a secret; the file's name stays."""
    if isinstance(value, dict):
        kept = {
            key: st.just(inner) if key in ("path", "model") else planted(inner, secret) for key, inner in value.items()
        }
        return st.fixed_dictionaries(kept)
    if isinstance(value, list):
        more = st.lists(st.one_of(secret, secret.map(lambda text: f"user={text}")), max_size=2)
        return st.tuples(st.tuples(*(planted(inner, secret) for inner in value)), more).map(
            lambda parts: [*parts[0], *parts[1]]
        )
    if isinstance(value, str):
        return st.one_of(
            st.just(value), secret, secret.map(lambda text: f"{value}{text}"), secret.map(f"{value},{{}}".format)
        )
    return st.one_of(st.just(value), secret) if value is None else st.just(value)


FILE_SYSTEMS = ("nfs4", "cifs", "ext4", "btrfs", "overlay", "fuse.sshfs", "9p", "zfs", "5ecre7fs", "fuse.5ecre7")


@given(
    planted(EVIDENCE, st.sampled_from(SECRETS)),
    st.sampled_from(FILE_SYSTEMS),
    st.sampled_from(["file", "hung", "fifo"]),
)
def test_no_planted_secret_comes_out(evidence: dict[str, Any], fs_type: str, kind: str) -> None:
    evidence["kind"] = kind
    if isinstance(evidence["mount"], dict):
        evidence["mount"]["fs_type"] = fs_type

    assert FRAGMENTS.search(json.dumps(classify(evidence))) is None


def test_the_planted_secrets_would_be_found() -> None:
    assert all(FRAGMENTS.search(json.dumps({"options": [secret]})) for secret in SECRETS)


@pytest.mark.parametrize("transport", ["iscsi", "nvme_fabrics", "fc", "network_block"])
def test_the_model_of_a_network_disk_stays_behind(transport: str) -> None:
    evidence = copy.deepcopy(EVIDENCE)
    evidence["mount"]["fs_type"] = "ext4"
    for device in evidence["block_chain"]:
        device.update(transport=transport, model="5ecre7 LUN")

    judged = classify(evidence)

    assert judged["medium"] == "network"
    assert FRAGMENTS.search(json.dumps(judged)) is None


def test_the_evidence_is_not_changed() -> None:
    evidence = copy.deepcopy(EVIDENCE)

    classify(evidence)

    assert evidence == EVIDENCE

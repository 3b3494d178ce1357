"""Judges a target's evidence: storage class, refusal, proof source. Pure, and all that it returns may be shared."""

from __future__ import annotations

from typing import Any

from ..parse import ParseError
from ..parse.mountinfo import parse_nfs_options
from .known_evidence import KnownEvidence, read_evidence
from .proof_source import ProofSource, proof_source
from .public_devices import device_aliases, public_device
from .public_options import matching, non_negative, public_fs_type, public_nfs, public_options, public_smb
from .refusals import refusal
from .storage_class import medium_of, storage_class, unseen_caches

__all__ = ["classify"]

_LINK_KINDS = "ethernet|wireless|bond|bridge|vlan|infiniband|tunnel|virtual|loopback"


def classify(evidence: dict[str, Any]) -> dict[str, Any]:
    """Judge the target evidence of :func:`rerig_agent.evidence.collect_target`. Never raises, also on partial evidence.

    Returns a dict that holds no path but the file's base name (in `refusal`), no host, address, export, MAC, serial
    number, UUID, or name that a person gave to a volume:

    - storage_class, medium;
    - refusal (one sentence) and refusal_code (:mod:`rerig_agent.judge.refusals`), both None for a target to measure;
    - proof {"source": "block" | "nfs" | "none", "device": name or None, "reason": code of PROOF_REASONS or None};
    - count_devices (names of the whole chain), unseen_caches (codes);
    - file_system {"type", "options", "nfs": {…} | None, "smb": {…} | None}, devices;
    - link {"speed_mbit", "mtu", "kind"} or None.

    Device names are the kernel's, but for arrays that a person named: these become "device0", "device1"… everywhere.
    """
    known = read_evidence(evidence)
    aliases = device_aliases(known.chain)
    storage = storage_class(known)
    refused = refusal(known)
    proof = proof_source(known) if refused is None else ProofSource("none", None, "refused")
    return {
        "storage_class": storage,
        "medium": medium_of(storage, known),
        "refusal": None if refused is None else refused.sentence,
        "refusal_code": None if refused is None else refused.code,
        "proof": {"source": proof.source, "device": aliases.get(proof.device or ""), "reason": proof.reason},
        "count_devices": list(aliases.values()),
        "unseen_caches": unseen_caches(known),
        "file_system": _file_system(known),
        "devices": [public_device(device, aliases) for device in known.chain],
        "link": _link(known),
    }


def _file_system(known: KnownEvidence) -> dict[str, Any]:
    """Type and options of the mount that the user named; the NFS or SMB part may come from below an overlay."""
    if known.mount is None:
        return {"type": "unknown", "options": [], "nfs": None, "smb": None}
    holder = known.mounts_read[-1]
    nfs = smb = None
    if holder["fs_type"] in ("nfs", "nfs4"):
        nfs = _nfs(holder["super_options"])
    elif holder["fs_type"] in ("cifs", "smb3", "smbfs"):
        smb = public_smb(public_options(holder["super_options"]))
    return {
        "type": public_fs_type(known.mount["fs_type"]),
        "options": public_options(known.mount["options"], known.mount["super_options"]),
        "nfs": nfs,
        "smb": smb,
    }


def _nfs(options: list[str]) -> dict[str, Any]:
    try:
        return public_nfs(parse_nfs_options(options))
    except ParseError:
        return public_nfs({})


def _link(known: KnownEvidence) -> dict[str, Any] | None:
    if known.network is None:
        return None
    return {
        "speed_mbit": non_negative(known.network.get("speed_mbit")),
        "mtu": non_negative(known.network.get("mtu")),
        "kind": matching(known.network.get("kind"), _LINK_KINDS),
    }

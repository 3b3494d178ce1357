"""Target evidence with every value of the expected type, so that judging it can't stumble over a gap.

Evidence may come from an older agent, from a machine whose /sys lacks half the files, or from a broken document.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["KnownEvidence", "known_device", "read_evidence", "shown_name"]

_DEVICE_STRINGS = ("partition_of", "model", "transport", "dm_kind", "md_level", "scheduler", "pci_vendor")
_LONGEST_CHAIN = 64  # as many as a result holds
_DEVICE_NUMBERS = ("size_bytes", "logical_block_bytes", "read_ahead_kb", "max_sectors_kb")


class KnownEvidence(NamedTuple):
    """The same names as in the target evidence; `name` is the base name, fit for a sentence."""

    name: str
    kind: str
    errno: int | None
    size_bytes: int | None
    allocated_bytes: int | None
    hole_bytes: int | None
    encoded: bool
    process_left: bool
    mount: dict[str, Any] | None
    lower_mounts: list[dict[str, Any]]
    data_mounts: list[dict[str, Any]]
    unresolved: list[str]
    file_system_devices: list[str]
    chain: list[dict[str, Any]]
    hypervisor: bool
    network: dict[str, Any] | None

    @property
    def mounts_read(self) -> list[dict[str, Any]]:
        """Every mount that the bytes come through, top first."""
        return ([self.mount] if self.mount is not None else []) + self.data_mounts

    def device(self, name: str) -> dict[str, Any] | None:
        """The chain's device of that kernel name."""
        return next((device for device in self.chain if device["name"] == name), None)


def read_evidence(evidence: Any) -> KnownEvidence:
    """Never raises: what is missing or of another type is None, False or empty."""
    given: dict[str, Any] = evidence if isinstance(evidence, dict) else {}
    network = given.get("network")
    return KnownEvidence(
        name=shown_name(_text(given.get("path")) or ""),
        kind=_text(given.get("kind")) or "unreadable",
        errno=_number(given.get("errno")),
        size_bytes=_number(given.get("size_bytes")),
        allocated_bytes=_number(given.get("allocated_bytes")),
        hole_bytes=_number(given.get("hole_bytes")),
        encoded=given.get("encoded") is True,
        process_left=given.get("process_left") is True,
        mount=_mount(given.get("mount")),
        lower_mounts=_mounts(given.get("lower_mounts")),
        data_mounts=_mounts(given.get("data_mounts")),
        unresolved=_texts(given.get("unresolved")),
        file_system_devices=_texts(given.get("file_system_devices")),
        chain=_chain(given.get("block_chain")),
        hypervisor=given.get("hypervisor") is True,
        network=network if isinstance(network, dict) else None,
    )


def shown_name(path: str) -> str:
    """Base name of a path in double quotes; what can't be printed (or isn't UTF-8) as an escape such as \\x0a."""
    name = path.rstrip("/").rsplit("/", 1)[-1] or path[:1]
    return '"{}"'.format("".join(_shown(sign) for sign in name))


def _shown(sign: str) -> str:
    if sign in '"\\':
        return "\\" + sign
    if sign.isprintable():
        return sign
    number = ord(sign)
    if 0xDC80 <= number <= 0xDCFF:  # a byte that isn't UTF-8, as Python keeps it in a file name
        return f"\\x{number - 0xDC00:02x}"
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def known_device(device: Any) -> dict[str, Any] | None:
    """A device dict with every key, or None if it has no name."""
    if not isinstance(device, dict) or not _text(device.get("name")):
        return None
    pcie = device.get("pcie")
    known: dict[str, Any] = {"name": device["name"], "slaves": _texts(device.get("slaves"))}
    known.update({key: _text(device.get(key)) for key in _DEVICE_STRINGS})
    known.update({key: _number(device.get(key)) for key in _DEVICE_NUMBERS})
    known["rotational"] = device.get("rotational") if isinstance(device.get("rotational"), bool) else None
    known["pcie"] = pcie if isinstance(pcie, dict) else None
    known["counts_io"] = device.get("counts_io") is not False
    known["is_multipath_head"] = device.get("is_multipath_head") is True
    return known


def _chain(value: Any) -> list[dict[str, Any]]:
    devices = [known_device(device) for device in value] if isinstance(value, list) else []
    return [device for device in devices if device is not None][:_LONGEST_CHAIN]


def _mounts(value: Any) -> list[dict[str, Any]]:
    mounts = [_mount(mount) for mount in value] if isinstance(value, list) else []
    return [mount for mount in mounts if mount is not None]


def _mount(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    return {
        "fs_type": _text(value.get("fs_type")) or "",
        "options": _texts(value.get("options")),
        "super_options": _texts(value.get("super_options")),
    }


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None

"""Target evidence: everything that can be known about one file before it is read, gathered but not judged."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any, Callable, Dict

from .facts.block import Device
from .facts.device_chain import device_chain, mount_devices, pool_read_ahead_path
from .facts.file_facts import probe_file, probe_paths
from .facts.hung_guard import Bounded, run_bounded
from .facts.hypervisor import collect_hypervisor
from .facts.network import describe_network
from .facts.overlay_layers import layer_directories, pick_layer, relative_in_layers
from .facts.sysfs import absolute, read_number, read_text
from .judge.virtual_machine import is_virtual_machine
from .parse import ParseError
from .parse.mountinfo import find_mount, parse_mountinfo

__all__ = ["LIMIT_S", "collect_target"]

Mount = Dict[str, Any]

LIMIT_S = 30.0
"""A NAS disk that has to spin up first takes ten seconds and more; a hung server never answers."""

_OVERLAYS_DEEP = 4


def collect_target(
    path: str, root: Path = Path("/"), limit_s: float = LIMIT_S, tick: Callable[[], None] | None = None
) -> dict[str, Any]:
    """Evidence about the file at `path`; never raises for a bad file and takes about `limit_s` seconds for a hung one.

    `tick` is called while the file does not answer, and may raise to end the waiting.

    With another `root`, that directory's proc, sys, dev and files stand for the machine's. Returns a dict with

    - path, real_path, kind ("file", "directory", "fifo", "socket", "block_device", "char_device", "dangling_link",
      "missing", "unreadable", "hung"), errno, size_bytes, allocated_bytes, hole_bytes, encoded, modified_ns, dev,
      owner_or_writable, direct_alignment_bytes (0: the file system takes no direct reads);
    - process_left (a child that can't be killed still waits for a hung mount);
    - mount (as in /proc/self/mountinfo), lower_mounts (of an overlay's layers and of loop files), data_mounts (those of
      them that the file's bytes come through), unresolved (codes of what could not be followed: "mount",
      "overlay_layer", "loop_backing", "device");
    - file_system_devices (names), block_chain (devices, top first), read_ahead_kb, network, hypervisor.

    Raw and local: it holds paths and addresses. :func:`rerig_agent.judge.classify.classify` makes what may be shared.
    """
    root = Path(os.path.realpath(str(root)))
    bounded = functools.partial(run_bounded, limit_s=limit_s, tick=tick)
    facts = _facts(path, root, bounded)
    evidence: dict[str, Any] = {
        "path": path,
        **facts,
        "mount": None,
        "lower_mounts": [],
        "data_mounts": [],
        "unresolved": [],
        "file_system_devices": [],
        "block_chain": [],
        "network": None,
        "hypervisor": is_virtual_machine(collect_hypervisor(root)),
        "read_ahead_kb": None,
    }
    # A hung file's mount can still be told by its name.
    place = facts["real_path"] or (os.path.abspath(path) if facts["kind"] == "hung" else None)  # noqa: PTH100 - no I/O
    if place is not None:
        _Descent(evidence, root, bounded).run(place)
    if evidence["direct_alignment_bytes"] is None and evidence["block_chain"]:
        evidence["direct_alignment_bytes"] = evidence["block_chain"][0]["logical_block_bytes"]
    return evidence


def _facts(path: str, root: Path, bounded: Callable[..., Bounded]) -> dict[str, Any]:
    answer = bounded(lambda: probe_file(_below(root, path)))
    facts: dict[str, Any] = answer.value or dict(probe_file("\0"), kind="unreadable", errno=None)
    if answer.timed_out:
        facts["kind"] = "hung"
    facts["process_left"] = answer.left_running
    if root != Path("/"):
        facts["mount_id"] = None  # an id of this machine's mounts says nothing about those of another root
        if facts["real_path"] is not None:
            facts["real_path"] = "/" + os.path.relpath(facts["real_path"], str(root))
    return facts


def _below(root: Path, path: str) -> str:
    # Not through Path: it would turn "" into "." and drop a trailing slash, which asks for a directory.
    return path if root == Path("/") else f"{root}/{path.lstrip('/')}"


class _Descent:
    """Follows a file down: its mount, an overlay's layer, the devices, the files under loop devices, and so on."""

    def __init__(self, evidence: dict[str, Any], root: Path, bounded: Callable[..., Bounded]) -> None:
        self._evidence = evidence
        self._root = root
        self._bounded = bounded
        self._mounts: list[Mount] = []

    def run(self, path: str) -> None:
        evidence = self._evidence
        try:
            self._mounts = parse_mountinfo(read_text(absolute(self._root, "/proc/self/mountinfo")) or "")
        except ParseError:
            self._mounts = []
        mount = self._mount_of(path, evidence["mount_id"])
        if mount is None:
            self._unresolved("mount")
            return
        evidence["mount"] = mount
        holder = self._holder(mount, path, evidence, _OVERLAYS_DEEP)
        if holder is None:
            return
        names = mount_devices(holder, self._root)
        evidence["file_system_devices"] = names
        evidence["block_chain"] = device_chain(names, self._root, self._devices_below_file)
        if not names and _wants_device(holder):
            self._unresolved("device")
        evidence["read_ahead_kb"] = self._read_ahead_kb(holder, evidence["block_chain"])
        evidence["network"] = describe_network(holder, evidence["block_chain"], self._root)

    def _unresolved(self, code: str) -> None:
        if code not in self._evidence["unresolved"]:
            self._evidence["unresolved"].append(code)

    def _mount_of(self, path: str, mount_id: int | None) -> Mount | None:
        by_id = [mount for mount in self._mounts if mount_id is not None and mount["mount_id"] == mount_id]
        if by_id:
            return by_id[0]
        try:
            found: Mount = find_mount(self._mounts, path)
            return found
        except ParseError:
            return None

    def _holder(self, mount: Mount, path: str, facts: dict[str, Any], depth: int) -> Mount | None:
        """The mount whose file system keeps the bytes: the mount itself, or the one under an overlay's right layer."""
        if mount["fs_type"] != "overlay":
            return mount
        layers = [layer for layer in layer_directories(mount) if layer.startswith("/")]
        inside = relative_in_layers(mount, path)
        places = [_below(self._root, layer) for layer in layers]
        answer = self._bounded(lambda: probe_paths(places + [f"{place}/{inside}" for place in places]))
        seen: list[dict[str, Any] | None] = answer.value or [None] * (2 * len(places))
        self._evidence["process_left"] = self._evidence["process_left"] or answer.left_running
        below: list[Mount | None] = []
        for directory in seen[: len(places)]:
            real = None if directory is None else "/" + os.path.relpath(directory["real_path"], str(self._root))
            below.append(None if real is None else self._mount_of(real, None))
        for layer_mount in below:
            if layer_mount is not None and layer_mount not in self._evidence["lower_mounts"]:
                self._evidence["lower_mounts"].append(layer_mount)
        index = pick_layer(facts, seen[len(places) :])
        chosen = None if index is None else below[index]
        if index is None or chosen is None or depth == 0 or chosen is mount:
            self._unresolved("overlay_layer")
            return None
        self._evidence["data_mounts"].append(chosen)
        entry = seen[len(places) + index]
        assert entry is not None  # noqa: S101 - pick_layer only picks what is there
        real = "/" + os.path.relpath(entry["real_path"], str(self._root))
        return self._holder(chosen, real, entry, depth - 1)

    def _devices_below_file(self, path: str) -> list[str]:
        """Kernel names of the devices under a loop device's file."""
        answer = self._bounded(lambda: probe_paths([_below(self._root, path)]))
        entry = answer.value[0] if answer.value else None
        # A loop device set up in another name space shows a path that means nothing here.
        mount = self._mount_of(path, None) if entry is not None and entry["kind"] == "file" else None
        if mount is None:
            self._unresolved("loop_backing")
            return []
        self._evidence["lower_mounts"].append(mount)
        self._evidence["data_mounts"].append(mount)
        holder = self._holder(mount, path, entry or {}, _OVERLAYS_DEEP)
        return [] if holder is None else mount_devices(holder, self._root)

    def _read_ahead_kb(self, mount: Mount, chain: list[Device]) -> int | None:
        """The file system's own read-ahead where it has one (NFS, FUSE, btrfs), else that of its device."""
        places = [absolute(self._root, "/sys/class/bdi") / str(mount["dev"]) / "read_ahead_kb"]
        if chain:
            pool = pool_read_ahead_path(chain[0]["name"], self._root)
            places += [pool] if pool is not None else []
        found = (read_number(place) for place in places)
        own = next((value for value in found if value is not None), None)
        return own if own is not None or not chain else chain[0]["read_ahead_kb"]


def _wants_device(mount: Mount) -> bool:
    """Whether the file system lies on a block device, although none could be found."""
    return not str(mount["dev"]).startswith("0:") or mount["fs_type"] in ("btrfs", "bcachefs")

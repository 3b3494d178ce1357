"""The process that keeps one container: it makes what the container lives in, starts it, and removes it all at its end.

It is started in namespaces of its own for mounts and network, so these go with it. Its standard input is one line of
JSON, then nothing: at its end, which the death of the starter is too, the container ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from twin.control_groups import ControlGroups
from twin.dress import dress
from twin.errors import TwinError
from twin.tools import run

# What a container can't do or nobody looks at.
MASKED = """
    run-rpc_pipefs.mount proc-fs-nfsd.mount console-getty.service systemd-networkd.service systemd-networkd.socket
""".split()
LOG = "console.log"
KILL_LIMIT_S = 10.0
REBOOT = 133  # systemd-nspawn's exit status, with --keep-unit


def main() -> None:
    """Keep the container that standard input describes; say ``{}`` when it was started, else what went wrong."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    order = json.loads(_line())
    folder = Path(order["folder"])
    groups = ControlGroups(order["name"], tuple(map(Path, order["groups"])), Path(order["unified"]))
    try:
        try:
            root = _root_file_system(folder, order)
            _network(order)
            groups.make()
            process = _start(root, folder, groups, order)
        except (OSError, TwinError) as error:
            print(json.dumps({"error": str(error)}), flush=True)
            return
        print("{}", flush=True)
        while _watch(process) == REBOOT:
            process = _start(root, folder, groups, order)
    finally:
        groups.remove()
        shutil.rmtree(order["sockets"], ignore_errors=True)


def _watch(process: subprocess.Popen[bytes]) -> int:
    """Wait for the container's end, or make it when standard input ends; its exit status."""
    ended = os.pidfd_open(process.pid)
    try:
        select.select([sys.stdin, ended], [], [])
    finally:
        os.close(ended)
        _kill(process)
    return process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """First ``unshare``'s child, on which all others in the container hang: so none of them is left to others."""
    with contextlib.suppress(OSError):
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii").split():
            os.kill(int(child), signal.SIGKILL)
    try:
        process.wait(KILL_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()


def _line() -> bytes:
    """Unbuffered, so that ``select`` knows what is left."""
    line = b""
    while not line.endswith(b"\n"):
        more = os.read(0, 65536)
        if not more:
            sys.exit(1)
        line += more
    return line


def _root_file_system(folder: Path, order: dict[str, Any]) -> Path:
    """A fresh one: the tree below, all that is written above it in memory."""
    layers = folder / "layers"
    layers.mkdir(exist_ok=True)
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", layers)
    for name in ("upper", "work", "root"):
        (layers / name).mkdir()
    root = layers / "root"
    options = f"lowerdir={order['tree']},upperdir={layers / 'upper'},workdir={layers / 'work'}"
    _mount("-t", "overlay", "-o", options, "overlay", root)
    dress(root, Path(order["keys"]))
    units = root / "etc/systemd/system"
    for name in MASKED:
        with contextlib.suppress(FileExistsError):
            (units / name).symlink_to("/dev/null")
    # systemd-nspawn keeps locks below /run that outlive it; here they are nobody else's.
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    return root


def _network(order: dict[str, Any]) -> None:
    """One link: ``host0`` in here, the container's name on the machine, whose process ``starter`` is."""
    peer = ["type", "veth", "peer", "name", order["name"], "netns", str(order["starter"])]
    for words in (
        ["link", "add", "host0", *peer],
        # Before systemd, and it stays at a reboot. Until sshd listens a connection is refused, instead of waiting.
        ["address", "add", f"{order['address']}/30", "dev", "host0"],
        ["link", "set", "host0", "up"],
        ["link", "set", "lo", "up"],
    ):
        run(["ip", *words], what="Making the container's network")


def _start(root: Path, folder: Path, groups: ControlGroups, order: dict[str, Any]) -> subprocess.Popen[bytes]:
    words = [
        # Processes that outlive a killed systemd-nspawn do not outlive a process namespace.
        *("setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--mount-proc", "--fork", "--kill-child", "--"),
        *("systemd-nspawn", "--quiet", "--boot"),
        *("--directory", str(root), f"--machine={order['name']}", "--hostname=twin"),
        *("--register=no", "--keep-unit", "--settings=no", "--link-journal=no", "--resolv-conf=off", "--timezone=off"),
        *("--console=read-only", "--network-namespace-path=/proc/self/ns/net", "--capability=CAP_NET_ADMIN"),
        *(f"--bind={node}" for node in order["nodes"]),
    ]
    with (folder / LOG).open("ab") as log:
        # In its groups before it is systemd-nspawn. This process has one thread.
        return subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=groups.enter, close_fds=True
        )


def _mount(*words: str | Path) -> None:
    run(["mount", *words], what="Making the container's file system")

"""Puts the agent where this user's runs are kept: ``python3 -c SCRIPT SHA256 RUN_ID [PLACE…]``.

Its base64 comes through stdin: Ansible's own copy needs a home that can be written. The places are those of
``./inv rerun --host`` where none is named. RUN_ID is an earlier run that is to be found, or empty.

Prints one JSON object: ``state_dir``, ``agent`` (its path), ``written`` (false when it lay there already) and
``run_dir`` (of the earlier run, null when it isn't there); or ``refusal``, a sentence.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import pwd
import stat
import sys
import tempfile
from pathlib import Path

LEAST_FREE_BYTES = 32 * 2**20


def candidates() -> list[Path]:
    """Where a state directory may lie, the best first. The home is the account's: $HOME may be anything under sudo."""
    uid = os.getuid()
    places = [Path("/var/tmp") / f"rerig-{uid}", Path("/tmp") / f"rerig-{uid}"]  # noqa: S108 - its owner is checked
    try:
        home = pwd.getpwuid(uid).pw_dir
    except KeyError:
        return places
    return [Path(home) / ".local" / "state" / "rerig", *places] if Path(home).is_dir() else places


def make_private(folder: Path) -> None:
    """Make ``folder`` for this user alone. Raises OSError where it is somebody else's or a link."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise
    folder.chmod(0o700)


def why_not(state: Path) -> str | None:
    """Why nothing can be kept in ``state``; None when it can, and then its folders are there."""
    try:
        for folder in (state, state / "agents", state / "runs"):
            make_private(folder)
        with tempfile.TemporaryFile(dir=str(state)) as file:
            file.write(bytes(4096))
            file.flush()
        space = os.statvfs(str(state))
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return None if space.f_bavail * space.f_frsize >= LEAST_FREE_BYTES else "the disk is full"


def put(agent: Path, data: bytes) -> bool:
    """Write ``agent`` whole or not at all; whether it had to be written."""
    if agent.is_file() and not agent.is_symlink() and agent.read_bytes() == data:
        return False
    handle, aside = tempfile.mkstemp(prefix=".agent.", dir=str(agent.parent))  # 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).replace(agent)
    except BaseException:
        Path(aside).unlink()
        raise
    return True


def main(sha256: str, run_id: str, *named: str) -> dict[str, object]:
    """Find a place, put the agent there and say where."""
    data = base64.b64decode(sys.stdin.buffer.read())
    if hashlib.sha256(data).hexdigest() != sha256:
        return {"refusal": "The agent arrived damaged."}
    places = [Path(place) for place in named] or candidates()
    reasons = []
    for state in places:
        reason = why_not(state)
        if reason is None:
            agent = state / "agents" / f"{sha256[:16]}.pyz"
            written = put(agent, data)
            # An earlier run may lie in a place that can't be used now.
            runs = [place / "runs" / run_id for place in places if run_id]
            run_dir = next((str(run) for run in runs if (run / "plan.json").is_file()), None)
            return {"state_dir": str(state), "agent": str(agent), "written": written, "run_dir": run_dir}
        reasons.append(f"{state}: {reason}")
    return {"refusal": "There is no place for the agent on this host ({}).".format("; ".join(reasons))}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))

"""What differs between the sessions whose figures stand in one result: agent, tools, mounts, devices, files. Pure.

That time passed in between is no doubt by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

from rerig.doubts import issue
from rerig.machine import between
from rerig.sessions import RawSession


class SeenTarget(NamedTuple):
    """What a session that measured a target knew of it: its own evidence, and how that was judged."""

    session: RawSession
    evidence: dict[str, Any]
    classified: dict[str, Any]


def agent_issues(sessions: list[RawSession]) -> list[dict[str, Any]]:
    """Issues where two sessions in order were measured by different agents or tools."""
    issues = []
    for first, second in itertools.pairwise(sessions):
        ours, theirs = first.start.get("agent_sha256"), second.start.get("agent_sha256")
        if isinstance(ours, str) and isinstance(theirs, str) and ours != theirs:
            issues.append(_changed("the build of the agent", first, second))
        for tool in ("dd", "fio"):
            before, after = tool_version(first, tool), tool_version(second, tool)
            if before is not None and after is not None and before != after:
                issues.append(_changed(f"the version of {tool}", first, second))
    return issues


def tool_version(session: RawSession, tool: str) -> Any:
    """The version that a session journalled of ``dd`` or ``fio``, as it is there; None where it has none."""
    tools = session.start.get("tools")
    found = tools.get(tool) if isinstance(tools, dict) else None
    return found.get("version") if isinstance(found, dict) else None


def target_issues(target: dict[str, Any], seen: list[SeenTarget]) -> list[dict[str, Any]]:
    """Issues of one planned target, as the sessions that measured it saw it, in their order; each kind once."""
    checks: dict[str, Callable[[SeenTarget], object]] = {
        f"the mount of {target['id']}": _mount,
        f"the storage under {target['id']}": _storage,
        f"the network link of {target['id']}": _link,
    }
    issues = []
    for words, part in checks.items():
        changed = ((a, b) for a, b in itertools.pairwise(seen) if part(a) != part(b))
        issues += [_changed(words, a.session, b.session) for a, b in itertools.islice(changed, 1)]
    if target["origin"] == "user":
        rewritten = ((a, b) for a, b in itertools.pairwise(seen) if _rewritten(a.evidence, b.evidence))
        for first, second in itertools.islice(rewritten, 1):
            what = f"the file {target['id']} changed {between(first.session.number, second.session.number, 2)}"
            sizes = (first.evidence.get("size_bytes"), second.evidence.get("size_bytes"))
            issues.append(issue("file_changed", what, *sizes))
    return issues


def _changed(words: str, first: RawSession, second: RawSession) -> dict[str, Any]:
    return issue("state_changed", f"{words} changed {between(first.number, second.number, 2)}")


def _mount(seen: SeenTarget) -> object:
    """Where it comes from, which is compared and never shown, and its options."""
    mounts = [seen.evidence.get("mount"), *(seen.evidence.get("data_mounts") or [])]
    sources = [
        tuple(mount.get(key) for key in ("fs_type", "source", "mount_point", "root"))
        for mount in mounts
        if isinstance(mount, dict)
    ]
    return sources, seen.classified.get("file_system")


def _storage(seen: SeenTarget) -> object:
    """The kind of storage and its devices. Their own names count: a drive that was put in anew may be another one."""
    names = [device.get("name") for device in seen.evidence.get("block_chain") or [] if isinstance(device, dict)]
    return seen.classified.get("storage_class"), names, seen.classified.get("devices")


def _link(seen: SeenTarget) -> object:
    return seen.classified.get("link")


def _rewritten(first: dict[str, Any], second: dict[str, Any]) -> bool:
    pairs = ((first.get(key), second.get(key)) for key in ("size_bytes", "modified_ns"))
    return any(a is not None and b is not None and a != b for a, b in pairs)

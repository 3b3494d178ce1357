"""The host's own tools that write on a plain file: no root, no loop device, no mount."""

from __future__ import annotations

from twin import tools
from twin.contents.seed import TIME_S

_TIMES = {"E2FSPROGS_FAKE_TIME": str(TIME_S), "SOURCE_DATE_EPOCH": str(TIME_S)}


def run(tool: str, *words: object, input: str = "") -> None:
    """TwinError where the tool is missing, with the packages to install, and where it fails."""
    tools.run([tool, *map(str, words)], what="Filling the disk", stdin=input.encode(), environment=_TIMES)

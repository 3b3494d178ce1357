"""Packs the agent into one file that any Python 3.8 and up runs: python3 rerig-agent.pyz --help."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import zipfile
from pathlib import Path
from typing import TypedDict

from rerig.checkout import ROOT
from rerig.errors import UserError

SOURCES = ROOT / "src" / "rerig_agent"
SHEBANG = b"#!/usr/bin/env python3\n"
# Any Python since 2.6 must be able to read these lines, to be told what it lacks.
MAIN = b"""\
import sys

if sys.version_info < (3, 8):
    sys.exit("rerig-agent: Python 3.8 or newer is needed, and this is %d.%d." % sys.version_info[:2])
from rerig_agent.__main__ import main

sys.exit(main())
"""
EARLIEST = (1980, 1, 1, 0, 0, 0)  # a zip has no earlier date, and none at all is not possible
REGULAR_644 = 0o100644 << 16
UNIX = 3


class Agent(TypedDict):
    """What was built: where it lies, and which code it is."""

    path: str
    sha256: str
    version: str


def build_agent(destination: str | Path) -> Agent:
    """Write the agent to ``destination`` (replacing it in one step) and say which code it is.

    The bytes depend on nothing but the sources: the same names in the same order, no dates, fixed permissions, and
    stored, since deflated bytes differ from one zlib to the next. Raises UserError where it can't be written.
    """
    path = Path(destination).absolute()
    data = agent_bytes()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, data)
    except OSError as error:
        raise UserError(f"The agent can't be written to {path}: {error.strerror}.") from error
    return {"path": str(path), "sha256": hashlib.sha256(data).hexdigest(), "version": _version()}


def agent_identity() -> dict[str, str]:
    """What a plan says about the agent that is to run it: the one that these sources make."""
    return {"version": _version(), "sha256": hashlib.sha256(agent_bytes()).hexdigest()}


def agent_bytes(sources: Path = SOURCES) -> bytes:
    """The whole archive. A package's files are its .py files; whatever else lies about is left out."""
    files = {
        f"rerig_agent/{path.relative_to(sources).as_posix()}": path.read_bytes()
        for path in sources.rglob("*.py")
        if not path.name.startswith(".")  # an editor's
    }
    files["__main__.py"] = MAIN
    buffer = io.BytesIO()
    buffer.write(SHEBANG)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.external_attr = REGULAR_644
            entry.create_system = UNIX
            archive.writestr(entry, files[name], zipfile.ZIP_STORED)
    return buffer.getvalue()


def _write(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(0o755)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _version() -> str:
    from rerig_agent import VERSION

    return VERSION

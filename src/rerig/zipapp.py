"""Packs the agent into one file that any Python 3.8 and up runs: python3 rerig-agent.pyz --help."""

from __future__ import annotations

import ast
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
# The same for the part of the agent that only looks: python3 PROBE.pyz state [--root DIR] [--tools].
PROBE = "state"
PROBE_MAIN = b"""\
import os
import sys

if sys.version_info < (3, 8):
    sys.exit("Python 3.8 or newer is needed there, and this is %d.%d." % sys.version_info[:2])
from pathlib import Path

from rerig_agent.state import print_state

words = sys.argv[1:]
root = words[words.index("--root") + 1] if "--root" in words else "/"
if not os.path.isdir(root):
    sys.exit("There is no folder %s to look below." % root)
sys.exit(print_state(Path(root), "--tools" in words))
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
    """The whole archive: what the agent's command line imports. Parsers that only readers of results need stay here."""
    files = {f"rerig_agent/{name}": (sources / name).read_bytes() for name in imported_from("__main__", sources)}
    return _packed({**files, "__main__.py": MAIN}, zipfile.ZIP_STORED)


def probe_bytes(sources: Path = SOURCES) -> bytes:
    """An archive of the agent's command ``state`` and what it imports, deflated: small enough for one argument.

    What it prints is told in :mod:`rerig_agent.state`. Its bytes may differ from one zlib to the next.
    """
    files = {f"rerig_agent/{name}": (sources / name).read_bytes() for name in imported_from(PROBE, sources)}
    return _packed({**files, "__main__.py": PROBE_MAIN}, zipfile.ZIP_DEFLATED)


def imported_from(module: str, sources: Path = SOURCES) -> list[str]:
    """The files below ``sources`` that a module (a dotted name) needs by relative imports, its own first."""
    found: dict[str, None] = {}
    left = [module]
    while left:
        name = left.pop()
        path = sources.joinpath(*name.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        file = path.relative_to(sources).as_posix()
        if not path.is_file() or file in found:
            continue  # a name in a module, not a module
        found[file] = None
        package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        left += [".".join(package[:length]) for length in range(len(package) + 1)]
        for node in ast.walk(ast.parse(path.read_bytes(), file)):
            if isinstance(node, ast.ImportFrom) and node.level:
                start = [*package[: len(package) - node.level + 1], *filter(None, (node.module or "").split("."))]
                left += [".".join(start), *(".".join([*start, alias.name]) for alias in node.names)]
    return list(found)


def _packed(files: dict[str, bytes], compression: int) -> bytes:
    buffer = io.BytesIO()
    buffer.write(SHEBANG)
    with zipfile.ZipFile(buffer, "a", compression) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.external_attr = REGULAR_644
            entry.create_system = UNIX
            archive.writestr(entry, files[name], compression)
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

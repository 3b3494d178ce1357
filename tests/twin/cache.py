"""What takes long to build, kept outside the repository under a name that holds the hash of its recipe."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from twin.errors import TwinError

VARIABLE = "RERIG_TWIN_CACHE"
LOG = logging.getLogger(__name__)
KEPT_S = 24 * 3600.0  # what another checkout used within a day stays


def cache_folder() -> Path:
    """Where built things lie: $RERIG_TWIN_CACHE, $XDG_CACHE_HOME/rerig/twin or ~/.cache/rerig/twin."""
    if own := os.environ.get(VARIABLE):
        return Path(own).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "rerig" / "twin"


def recipe_hash(texts: Iterable[str | bytes | Path]) -> str:
    """12 hex digits of a SHA-256 over texts and files (folders: every file below, by name)."""
    digest = hashlib.sha256()
    for text in texts:
        for part in _parts(text):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:12]


def _parts(text: str | bytes | Path) -> Iterator[bytes]:
    if isinstance(text, Path):
        for path in sorted(path for path in [text, *text.rglob("*")] if path.is_file() and path.suffix != ".pyc"):
            yield path.relative_to(text.parent).as_posix().encode()
            yield path.read_bytes()
    else:
        yield text.encode() if isinstance(text, str) else text


def built(kind: str, recipe: str, build: Callable[[Path], None]) -> Path:
    """The folder ``<kind>-<recipe>`` of the cache; ``build`` fills it aside first where it isn't there.

    One process builds, others wait for it. Older ones of the kind go, if nobody has used them for a day.
    """
    folder = cache_folder() / f"{kind}-{recipe}"
    if not folder.is_dir():
        with _locked(kind):
            if not folder.is_dir():
                _build(folder, build)
                _forget_old(kind, folder)
    os.utime(folder)
    return folder


def _build(folder: Path, build: Callable[[Path], None]) -> None:
    LOG.info("making %s, once", folder.name)
    try:
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as aside:
            made = Path(aside) / "made"
            made.mkdir()
            build(made)
            made.rename(folder)
    except OSError as error:
        raise TwinError(f"The twin's cache can't be written: {error.filename or folder}: {error.strerror}.") from error


@contextlib.contextmanager
def _locked(kind: str) -> Iterator[None]:
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / f".{kind}.lock").open("w")
    except OSError as error:
        raise TwinError(f"The twin's cache can't be written: {error.filename or folder}: {error.strerror}.") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _forget_old(kind: str, newest: Path) -> None:
    for folder in newest.parent.glob(f"{kind}-*"):
        if folder != newest and time.time() - folder.stat().st_mtime > KEPT_S:
            shutil.rmtree(folder, ignore_errors=True)

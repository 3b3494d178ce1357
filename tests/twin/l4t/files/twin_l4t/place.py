"""Where the files of the board lie: below a root that tests choose, and below a spare one for what / can't hold."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

VARIABLE = "TWIN_L4T_ROOT"
USER_VARIABLE = "TWIN_L4T_UID"
STATE = "/var/lib/twin-l4t"  # outlives a reboot
RUN = "/run/twin-l4t"  # does not
SPARE = f"{RUN}/root"
LINKS = 40  # as the kernel


def root() -> Path:
    return Path(os.environ.get(VARIABLE) or "/")


def is_board() -> bool:
    """Whether the root is the machine's own: only then anything is mounted or restarted."""
    return root() == Path("/")


def path(name: str) -> Path:
    """Where the board's file ``name`` lies; an absolute link of the board is followed below the root.

    What the machine can't show at the real path is found in the spare root.
    """
    if not is_board():
        return _inside(name)
    real = Path(name)
    if not os.path.lexists(str(real)) and os.path.lexists(SPARE + name):
        return Path(SPARE + name)
    return real


def _inside(name: str) -> Path:
    """``name`` below the root with every link on the way resolved, except the last one where nothing is behind it."""
    done: list[str] = []
    left = [part for part in name.split("/") if part]
    followed = 0
    while left:
        part = left.pop(0)
        if part == "..":
            del done[-1:]
            continue
        here = root().joinpath(*done, part)
        if not here.is_symlink():
            done.append(part)
            continue
        followed += 1
        if followed > LINKS:
            raise OSError(40, "Too many levels of symbolic links", name)
        target = os.readlink(str(here))
        if target.startswith("/"):
            done = []
        left = [part for part in target.split("/") if part and part != "."] + left
    return root().joinpath(*done)


def read(name: str) -> str | None:
    """The file's text, None where there is none (or none to be read)."""
    try:
        return path(name).read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def word(name: str) -> str:
    """The file's text without the newline; empty where there is none."""
    return (read(name) or "").strip()


def number(name: str) -> int | None:
    text = word(name)
    return int(text) if text.lstrip("-").isdigit() else None


def write(name: str, text: str) -> None:
    """Write the board's file in place, as a write to sysfs does; its folder is made where needed."""
    file = path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())


def replace(name: str, data: bytes, mode: int = 0o644) -> None:
    """Write the board's file as a whole or not at all, and onto the disk: the machine may lose its power any time."""
    file = path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_name(f".{file.name}.{os.getpid()}")
    with aside.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    aside.chmod(mode)
    aside.replace(file)


def is_root() -> bool:
    """Below a test's root anybody is root, but for the user whose number the test gives."""
    return (os.geteuid() if is_board() else int(os.environ.get(USER_VARIABLE) or 0)) == 0


def die(sentence: str, status: int = 1) -> NoReturn:
    print(sentence, file=sys.stderr)
    raise SystemExit(status)

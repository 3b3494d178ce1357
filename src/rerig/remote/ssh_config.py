"""The user's ssh_config and the system's, with the files that they include."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerig.errors import UserError
from rerig.text import printable

if TYPE_CHECKING:
    from paramiko.config import SSHConfig

SYSTEM = Path("/etc/ssh/ssh_config")
DEEPEST_INCLUDE = 16  # as OpenSSH
KEYWORD = re.compile(r"\s*(\w+)(?:\s*=\s*|\s+)(.*)", re.DOTALL)
TOKEN = re.compile("%.")
SSH_PORT = 22
CONNECT_LIMIT_S = 15
KEEPALIVE_S = 15


def read_ssh_config() -> SSHConfig:
    """Both files, the user's first, as ssh reads them. Raises UserError for one that is no ssh_config."""
    from paramiko.config import SSHConfig
    from paramiko.ssh_exception import ConfigParseError

    user = Path("~/.ssh").expanduser()
    lines = [*_lines(user / "config", user, 0), "Match all", *_lines(SYSTEM, SYSTEM.parent, 0)]
    try:
        return SSHConfig.from_text("\n".join(lines) + "\n")
    except (ConfigParseError, ValueError) as error:
        raise UserError(f"The ssh_config can't be read: {printable(str(error))}.") from None


def port_of(options: Any) -> int:
    """The Port of looked-up options."""
    return _number(options, "port", SSH_PORT)


def connect_limit_s(options: Any) -> int:
    """How long a machine may take to answer."""
    return _number(options, "connecttimeout", CONNECT_LIMIT_S) or CONNECT_LIMIT_S


def keepalive_s(options: Any) -> int:
    """How often to send a word, so that nothing on the way forgets the connection."""
    return _number(options, "serveraliveinterval", KEEPALIVE_S) or KEEPALIVE_S


def file_names(options: Any, key: str, default: list[str], tokens: dict[str, str]) -> list[str]:
    """The file names of one option, each without its quotes, its ``%`` words replaced; a single one may hold spaces."""
    value = options.get(key)
    if not value:
        return default
    value = TOKEN.sub(lambda found: tokens.get(found[0], found[0]), value)
    if Path(value).expanduser().is_file():
        return [value]
    try:
        return shlex.split(f'"{value}"' if value.count('"') % 2 == 0 and '" "' in value else value)
    except ValueError:
        raise UserError(f"The {key} of the ssh_config can't be read: {printable(value)}.") from None


def _number(options: Any, key: str, default: int) -> int:
    value = str(options.get(key, default))
    if not value.isascii() or not value.isdigit():
        if value.lower() in ("none", "no"):
            return default
        raise UserError(f"The {key} of the ssh_config is no number: {printable(value)}.")
    return int(value)


def _lines(path: Path, relative_to: Path, depth: int) -> list[str]:
    """A file's lines, the included ones in their place; after them the Host or Match they stood under goes on."""
    try:
        text = path.read_text("utf-8", "surrogateescape")
    except OSError:
        return []
    found: list[str] = []
    section = "Match all"
    for line in text.splitlines():
        keyword, value = match.groups() if (match := KEYWORD.match(line)) else ("", "")
        if keyword.lower() in ("host", "match"):
            section = line
        if keyword.lower() != "include":
            found.append(line)
            continue
        if depth < DEEPEST_INCLUDE:
            for included in _included(value, relative_to):
                found += [*_lines(included, relative_to, depth + 1), section]
    return found


def _included(value: str, relative_to: Path) -> list[Path]:
    try:
        patterns = shlex.split(value, comments=True)
    except ValueError:
        return []
    paths = []
    for pattern in patterns:
        whole = Path(pattern).expanduser()
        whole = whole if whole.is_absolute() else relative_to / whole
        paths += sorted(Path(whole.anchor).glob(str(whole.relative_to(whole.anchor))))
    return paths

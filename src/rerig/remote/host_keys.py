"""Whether a machine shows the key that the user's known_hosts files have for it."""

from __future__ import annotations

import base64
import binascii
import fnmatch
import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerig.errors import UserError
from rerig.remote.ssh_config import SSH_PORT, file_names
from rerig.text import printable

if TYPE_CHECKING:
    from paramiko import PKey

USER_FILES = ["~/.ssh/known_hosts", "~/.ssh/known_hosts2"]
GLOBAL_FILES = ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"]
# known_hosts names a key's type, the protocol the signatures made with it; more than one for RSA.
SIGNATURES = {"ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256")}


@dataclass
class KnownKeys:
    """What is known about one machine: ``trusted`` and ``revoked`` keys as (type, bytes)."""

    name: str
    trusted: set[tuple[str, bytes]] = field(default_factory=set)
    revoked: set[bytes] = field(default_factory=set)
    by_authority: bool = False

    def key_types(self) -> list[str]:
        """The signatures to ask for first: those of a key that is known, lest another key is shown."""
        return [name for key_type in sorted({key_type for key_type, _ in self.trusted}) for name in _signed(key_type)]

    def missing_host_key(self, _client: object, _name: str, key: PKey) -> None:
        """paramiko asks this for every key, since it is given no keys to know. Raises UserError to refuse."""
        self.verify(key.get_name(), key.asbytes())

    def verify(self, key_type: str, key: bytes) -> None:
        """Raises UserError unless exactly this key is known and not revoked; no setting of ssh_config softens that."""
        shown = f"{printable(key_type)} {fingerprint(key)}"
        name = printable(self.name)
        if key in self.revoked:
            raise UserError(
                f"The host key of {name} ({shown}) is marked @revoked in known_hosts: whoever answers there may be "
                "someone else."
            )
        if (key_type, key) in self.trusted:
            return
        if self.trusted:
            raise UserError(
                f"The host key of {name} has changed: it is now {shown}, and known_hosts has another. If the machine "
                f"was installed anew, remove the old one (ssh-keygen -R '{name}') and connect once with ssh; if not, "
                "someone else may be answering."
            )
        raise UserError(
            f"The host key of {name} ({shown}) is not in known_hosts"
            + (", only an authority that rerig does not ask" if self.by_authority else "")
            + ": compare the fingerprint with the machine's own, and connect once with ssh to store it."
        )


def find_known_keys(options: Any, address: str, port: int) -> KnownKeys:
    """What the files that ``options`` (of ssh_config) name say about a machine.

    As ssh does: HostKeyAlias as it is, else ``[address]:port`` where the port is not 22; a key of the plain address
    also vouches for another port, while a different one there says nothing.
    """
    alias = options.get("hostkeyalias")
    lines = list(_read_lines(options, {"%%": "%", "%d": "~", "%h": address, "%k": alias or address, "%p": str(port)}))
    name = alias or (address if port == SSH_PORT else f"[{address}]:{port}")
    known = look_up(lines, name)
    if not known.trusted and not alias and port != SSH_PORT:
        plain = look_up(lines, address)
        known.revoked |= plain.revoked
        return _Vouched(name, set(), known.revoked, known.by_authority, plain.trusted)
    return known


@dataclass
class _Vouched(KnownKeys):
    """Nothing is known for the port; keys of the plain address are good enough, and others there no contradiction."""

    plain: set[tuple[str, bytes]] = field(default_factory=set)

    def key_types(self) -> list[str]:
        return KnownKeys(self.name, self.plain).key_types()

    def verify(self, key_type: str, key: bytes) -> None:
        if (key_type, key) not in self.plain or key in self.revoked:
            super().verify(key_type, key)


def look_up(lines: Iterable[str], name: str) -> KnownKeys:
    """What lines of known_hosts say about ``name``; what can't be read is passed over, as ssh does."""
    known = KnownKeys(name)
    for line in lines:
        words = line.split()
        marker = words.pop(0) if words and words[0].startswith("@") else ""
        if len(words) < 3 or words[0].startswith("#") or not _matches(words[0], name):
            continue
        try:
            key = base64.b64decode(words[2], validate=True)
        except (binascii.Error, ValueError):
            continue
        if marker == "@revoked":
            known.revoked.add(key)
        elif marker == "@cert-authority":
            known.by_authority = True
        elif not marker:
            known.trusted.add((words[1], key))
    return known


def fingerprint(key: bytes) -> str:
    """As ``ssh-keygen -l`` prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key).digest()).decode("ascii").rstrip("=")


def _signed(key_type: str) -> tuple[str, ...]:
    return SIGNATURES.get(key_type, (key_type,))


def _matches(patterns: str, name: str) -> bool:
    name = name.lower()
    if patterns.startswith("|1|"):
        return _is_hash_of(patterns, name)
    found = False
    for pattern in patterns.lower().split(","):
        if pattern.startswith("!") and _fits(pattern[1:], name):
            return False
        found = found or _fits(pattern, name)
    return found


def _fits(pattern: str, name: str) -> bool:
    # Brackets mean a port here; only * and ? are wild.
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))


def _is_hash_of(hashed: str, name: str) -> bool:
    try:
        salt, digest = (base64.b64decode(part, validate=True) for part in hashed.split("|")[2:4])
    except (binascii.Error, ValueError):
        return False
    return hmac.compare_digest(hmac.new(salt, name.encode("utf-8", "replace"), hashlib.sha1).digest(), digest)


def _read_lines(options: Any, tokens: dict[str, str]) -> Iterable[str]:
    for key, default in (("userknownhostsfile", USER_FILES), ("globalknownhostsfile", GLOBAL_FILES)):
        for name in file_names(options, key, default, tokens):
            yield from _text(name).splitlines()


def _text(name: str) -> str:
    """Nothing for "none", /dev/null, or a file that isn't there yet."""
    try:
        return Path(name).expanduser().read_text("utf-8", "replace")
    except (OSError, RuntimeError):
        return ""

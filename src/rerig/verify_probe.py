"""The one look at a machine: the agent's probe as words of a command, and what that command answered.

The probe travels as an argument, so that one round trip of any connection is enough, and it is run from memory: nothing
is written on the machine, not even below /tmp, unless its Python or kernel knows no memfd.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from rerig.errors import UserError
from rerig.text import bounded, printable
from rerig.zipapp import probe_bytes

MARK = "rerig-look"
# What the kernel takes as one argument (MAX_ARG_STRLEN, 32 pages), and ssh hands all words over as one.
LONGEST_COMMAND = 131_072
NO_SUCH_COMMAND = (126, 127)
SSH_FAILED = 255
# Any python3 must understand it, to be told what it lacks; any shell must leave it alone, so it has neither
# single quotes nor backslashes nor exclamation marks.
START = f"""
import base64, os, runpy, sys, tempfile
data = base64.b64decode(sys.argv.pop(1))
path = left = None
try:
    number = os.memfd_create("rerig")
    path = "/proc/self/fd/%d" % number
    open(path, "wb").write(data)
    open(path, "rb").close()
except (AttributeError, OSError):
    number, path = tempfile.mkstemp(prefix="rerig-")
    left = path
    os.write(number, data)
sys.stdout.write("{MARK}" + chr(10))
sys.stdout.flush()
try:
    runpy.run_path(path, run_name="__main__")
finally:
    if left:
        os.remove(left)
"""
# ssh's own words for what a network does; anything else that it says may hold an address.
NETWORK = (
    "Connection refused|Connection timed out|Operation timed out|No route to host|Network is unreachable"
    "|Name or service not known|Temporary failure in name resolution|nodename nor servname provided, or not known"
    "|Connection reset by peer|Connection closed by remote host|Host is down|Too many authentication failures"
)


def probe_words(python: str, root: str) -> list[str]:
    """The command, word by word, that looks at the files below ``root`` by a machine's ``python``."""
    archive = base64.b64encode(probe_bytes()).decode("ascii")
    return [python, "-I", "-c", START, archive, "state", "--root", root, "--tools"]


def read_look(status: int, output: str, errors: str) -> dict[str, Any]:
    """What the probe printed: {"evidence", "super", "links", "fan"}. Raises UserError, one sentence."""
    _, mark, text = output.rpartition(f"{MARK}\n")
    try:
        look = json.loads(text) if mark else None
    except ValueError:
        look = None
    if status == 0 and isinstance(look, dict) and isinstance(look.get("super"), dict):
        return look
    last = next((line.strip() for line in reversed(errors.splitlines()) if line.strip()), "")
    if not mark and re.search(r"\bsudo: .*(?:password|terminal|askpass|tty)", errors):
        raise UserError(
            "sudo asks for a password there, and verify asks nobody: leave --sudo out, or let sudo ask none."
        )
    if not mark and (status in NO_SUCH_COMMAND or "command not found" in last):
        raise UserError("There is no python3 there, and looking at a machine needs it (3.8 or newer).")
    if (mark and last.endswith("to look below.")) or last.startswith(
        "Python 3.8 or newer"
    ):  # the probe's own sentences
        raise UserError(printable(bounded(last, 200)))
    said = f": {printable(bounded(last, 200)).rstrip('.')}" if last else ""
    raise UserError(f"The look at the machine failed (status {status}){said}.")


def unreachable(errors: str) -> str:
    """One sentence about a connection that ssh could not make, from what it said; without names and addresses."""
    if "Host key verification failed" in errors or "host key is known for" in errors:
        return (
            "The host key is unknown or has changed, which is never accepted: compare its fingerprint with the "
            "machine's own and connect once with ssh to store it."
        )
    if "Permission denied" in errors:
        return "Nobody is let in with the keys that ssh has here (Permission denied)."
    found = re.search(NETWORK, errors)
    return f"It can't be reached by ssh: {found[0] if found else 'ssh ended with status 255'}."

"""The agent's delivery to a machine as one program for the Python there, for who has a connection of his own to it.

It does what the first look at a machine does, by the same errands; the role measure carries it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from rerig.errors import UserError
from rerig.remote.errands import FIND_AGENT, LOOK, PUT_AGENT, errand
from rerig.zipapp import agent_bytes

MARK = "rerig-delivery"

_FIND_RUN = """\
lies = [path + "/" + WORDS["run"] for path in runs_dirs if WORDS["run"]]
print(json.dumps({"run_dir": ([path for path in lies if os.path.isfile(path + "/plan.json")] + [None])[0]}))
if state_dir is None:
    sys.exit(0)
WORDS["path"] = "%s/agents/%s.pyz" % (state_dir, WORDS["sha256"][:16])
print(json.dumps({"agent": WORDS["path"]}))
"""
_STOP_WHERE_FOUND = """\
if found:
    sys.exit(0)
"""


def delivery(run_id: str = "", places: Sequence[str] = ()) -> bytes:
    """The program that puts this clone's agent where the user's runs are kept; it may run more than once.

    It prints MARK, a newline, and JSON objects, one a line, whose keys together are: those of LOOK; ``run_dir`` (of the
    run ``run_id``, or null); and, where ``state_dir`` is not null, ``agent`` (its path), ``found`` (whether it was
    there) and, where it was not, ``failed`` (why it can't be written, or null). ``places`` (directories, the best
    first) stand in for the usual ones.
    """
    archive = agent_bytes()
    words = {
        "run": run_id,
        "places": list(places),
        "sha256": hashlib.sha256(archive).hexdigest(),
        "archive": base64.b64encode(archive).decode("ascii"),
    }
    return errand(LOOK + _FIND_RUN + FIND_AGENT + _STOP_WHERE_FOUND + PUT_AGENT, words, MARK)


def write_delivery(out: Path, run_id: str = "", places: Sequence[str] = ()) -> None:
    """Write :func:`delivery` to a file. Raises UserError."""
    try:
        out.write_bytes(delivery(run_id, places))
    except OSError as error:
        raise UserError(f"{out} can't be written: {error.strerror}.") from error

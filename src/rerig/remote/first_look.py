"""Before the agent is there: which Python the machine has, where rerig may keep things, and bringing the agent.

Nothing but Python is asked of the machine. What it runs comes through stdin, so that no login shell reads it.
"""

from __future__ import annotations

import base64
import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rerig.errors import UserError
from rerig.remote.errands import FIND_AGENT, LOOK, PUT_AGENT, errand
from rerig.remote.lost import ConnectionLost
from rerig.remote.shell import Completed, Shell
from rerig.text import bounded, printable
from rerig.zipapp import Agent

LOOK_LIMIT_S = 60
PUT_LIMIT_S = 300
LONGEST_REASON = 200
WRONG_WORDS = 2  # Python's own status for an option that it doesn't know
NOT_EXECUTABLE, NOT_FOUND = 126, 127
ENDED_BY_SIGNAL = 128


@dataclass(frozen=True)
class Look:
    """``state_dir``: the private directory that rerig may use there. ``runs_dirs``: wherever runs may lie.

    ``python``: the word that starts Python there.
    """

    python_version: str
    state_dir: str
    runs_dirs: list[str]
    python: str = "python3"


def look(shell: Shell, python: str) -> Look:
    """Find, or make, the first directory of rerig that can be written: below the home, /var/tmp, /tmp.

    Raises UserError: no Python there, one older than 3.8, no place (full, read-only); ConnectionLost.
    """
    answer = _run(shell, python, LOOK, {}, LOOK_LIMIT_S)
    if answer["state_dir"] is None:
        reasons = "; ".join(f"{printable(path)}: {printable(why)}" for path, why in answer["refused"])
        raise UserError(f"There is no place for rerig on the machine ({reasons}).")
    return Look(answer["python"], answer["state_dir"], answer["runs_dirs"], python)


def put_agent(shell: Shell, look: Look, built: Agent) -> str:
    """The path of the agent ``built`` here on the machine; it is sent unless its very bytes are there.

    Raises UserError, ConnectionLost.
    """
    path = f"{look.state_dir}/agents/{built['sha256'][:16]}.pyz"
    wanted = {"path": path, "sha256": built["sha256"]}
    if _run(shell, look.python, FIND_AGENT, wanted, LOOK_LIMIT_S)["found"]:
        return path
    archive = base64.b64encode(Path(built["path"]).read_bytes()).decode("ascii")
    answer = _run(shell, look.python, PUT_AGENT, {**wanted, "archive": archive}, PUT_LIMIT_S)
    if answer["failed"]:
        raise UserError(f"The agent can't be written to {printable(path)}: {printable(answer['failed'])}.")
    return path


def _run(shell: Shell, python: str, body: str, words: dict[str, str], limit_s: float) -> dict[str, Any]:
    mark = "rerig-" + secrets.token_hex(8)
    done = shell.run([python, "-I", "-S", "-"], errand(body, words, mark), limit_s)
    _noise, found, said = done.stdout.partition(f"\n{mark}\n".encode("ascii"))
    if not found:
        raise _no_answer(done, python)
    try:
        answer = json.loads(said)
    except ValueError:
        raise _no_answer(done, python) from None
    if not isinstance(answer, dict):
        raise _no_answer(done, python)
    if set(answer) == {"python"}:
        raise _too_old(python, f"is {answer['python']}")
    return answer


def _no_answer(done: Completed, python: str) -> Exception:
    complaint = done.stderr.decode("utf-8", "replace")
    said = complaint if complaint.strip() else done.stdout.decode("utf-8", "replace")  # as nologin says it
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    last = bounded(printable(lines[-1].rstrip(".")), LONGEST_REASON) if lines else "no word"
    if done.status == ENDED_BY_SIGNAL:
        return ConnectionLost("The command was ended there.")
    if done.status == NOT_FOUND or "command not found" in complaint:  # the latter is sudo, with status 1
        return UserError(
            f"There is no {printable(python)} on the machine: install Python 3.8 or newer there, or name it "
            "(ansible_python_interpreter in an inventory)."
        )
    if done.status == NOT_EXECUTABLE:
        return UserError(f"{printable(python)} can't be started on the machine: {last}.")
    if done.status == WRONG_WORDS and "nknown option" in complaint:
        return _too_old(python, "is older than that")
    return UserError(f"{printable(python)} on the machine gave no answer (status {done.status}): {last}.")


def _too_old(python: str, what: str) -> UserError:
    return UserError(
        f"Python 3.8 or newer is needed on the machine, and {printable(python)} there {printable(what)}: install a "
        "newer one beside it and name it (ansible_python_interpreter in an inventory)."
    )

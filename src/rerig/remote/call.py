"""One call of the agent on another machine: its argv, and its answer behind whatever a login shell prints first."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from rerig.errors import UserError
from rerig.remote.shell import Completed, Shell
from rerig.text import bounded, printable

LONGEST_SENTENCE = 400
SILENCE_S = 45  # a run that is followed is heard every 10 s
NO_AGENT = -1
COMPLAINT = b"rerig-agent: "


@dataclass(frozen=True)
class Answer:
    """What the agent said. ``status`` is NO_AGENT where it never began to speak."""

    status: int
    stdout: bytes
    stderr: bytes

    def last_line(self) -> str:
        """The last sentence of its complaint, safe to show, with a full stop."""
        return sentence_of(self.stderr)

    def json(self) -> Any:
        """Its output. Raises UserError where it is none."""
        try:
            return json.loads(self.stdout)
        except (ValueError, RecursionError):
            raise UserError("The agent's answer is no JSON: is its version the same as here?") from None

    def document(self) -> dict[str, Any]:
        """Its output, which must be an object."""
        document = self.json()
        if not isinstance(document, dict):
            raise UserError("The agent's answer is not what it should be: is its version the same as here?")
        return document

    def run_documents(self) -> list[dict[str, Any]]:
        """Those of a list that name a run and its directory, as all must."""
        found = self.json()
        documents = [document for document in found if isinstance(document, dict)] if isinstance(found, list) else []
        return [document for document in documents if {type(document.get(k)) for k in ("run_id", "run_dir")} == {str}]


@dataclass(frozen=True)
class Call:
    """An agent's archive on some machine, and the Python that runs it."""

    python: str
    archive: str

    def run(self, shell: Shell, words: list[str], stdin: bytes = b"", limit_s: float = 60) -> Answer:
        """Run one command to its end."""
        mark = _new_mark()
        done = shell.run(self._argv(mark, words), stdin, limit_s)
        _noise, found, payload = done.stdout.partition(mark + b"\n")
        return Answer(done.status, payload, done.stderr) if found else _silent(done)

    def stream(self, shell: Shell, words: list[str], on_line: Callable[[bytes], None]) -> Answer:
        """Run one command and hand its lines on as they come."""
        mark = _new_mark()
        heard = False

        def after_mark(line: bytes) -> None:
            nonlocal heard
            if heard:
                on_line(line)
            else:
                heard = line.endswith(mark)

        done = shell.stream(self._argv(mark, words), after_mark, SILENCE_S)
        return Answer(done.status, b"", done.stderr) if heard else _silent(done)

    def save(self, shell: Shell, words: list[str], file: BinaryIO) -> Answer:
        """Run one command whose output goes into ``file``, from its beginning."""
        file.seek(0)
        file.truncate()
        done = shell.save(self._argv(mark := _new_mark(), words), file, mark, SILENCE_S)
        # Without a byte it is the complaint that tells an agent from a Python that found none.
        heard = done.status == 0 or file.tell() > 0 or COMPLAINT in done.stderr
        return Answer(done.status, b"", done.stderr) if heard else _silent(done)

    def _argv(self, mark: bytes, words: list[str]) -> list[str]:
        # As on this machine: nothing of the user's Python environment reaches the agent, and it leaves no files.
        return [self.python, "-I", "-S", "-B", self.archive, "--mark", mark.decode(), *words]


def sentence_of(stderr: bytes) -> str:
    """The last line of a complaint as a sentence that is safe to show."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    words = printable(lines[-1]).removeprefix(COMPLAINT.decode()) if lines else "It said nothing"
    return bounded(words[:1].upper() + words[1:].rstrip("."), LONGEST_SENTENCE) + "."


def _new_mark() -> bytes:
    return b"rerig-" + secrets.token_hex(8).encode()


def _silent(done: Completed) -> Answer:
    return Answer(NO_AGENT, b"", done.stderr)

"""What an agent says, told apart from what a login shell says before it."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig.errors import UserError
from rerig.remote.call import NO_AGENT, Answer, Call, sentence_of
from rerig.remote.shell import AfterMark, Completed, _Lines


class Double:
    """A Shell that says ``said`` with the mark of the call in place of MARK, in pieces of ``size`` bytes."""

    def __init__(self, said: bytes, status: int = 0, stderr: bytes = b"", size: int = 3) -> None:
        self.said, self.status, self.stderr, self.size = said, status, stderr, size
        self.argv: list[str] = []
        self.stdin = b""

    def _pieces(self, argv: list[str]) -> list[bytes]:
        self.argv = argv
        mark = argv[argv.index("--mark") + 1].encode()
        said = self.said.replace(b"MARK", mark)
        return [said[start : start + self.size] for start in range(0, len(said), self.size)]

    def run(self, argv: list[str], stdin: bytes = b"", limit_s: float = 60) -> Completed:
        self.stdin = stdin
        return Completed(self.status, b"".join(self._pieces(argv)), self.stderr)

    def stream(self, argv: list[str], on_line: Callable[[bytes], None], silence_s: float) -> Completed:
        lines = _Lines(on_line)
        for piece in self._pieces(argv):
            lines.take(piece)
        lines.end()
        return Completed(self.status, b"", self.stderr)

    def save(self, argv: list[str], file: BinaryIO, mark: bytes, silence_s: float) -> Completed:
        after = AfterMark(file, mark)
        for piece in self._pieces(argv):
            after.take(piece)
        return Completed(self.status, b"", self.stderr)


CALL = Call("python3", "/state dir/agents/x.pyz")


def test_the_agent_is_started_without_anything_of_the_users() -> None:
    shell = Double(b"MARK\n{}")
    CALL.run(shell, ["start", "--plan", "-"], b"plan")
    assert shell.argv[:6] == ["python3", "-I", "-S", "-B", "/state dir/agents/x.pyz", "--mark"]
    assert shell.argv[7:] == ["start", "--plan", "-"]
    assert shell.stdin == b"plan"


def test_each_call_has_a_mark_of_its_own() -> None:
    shell = Double(b"MARK\n")
    marks = set()
    for _ in range(10):
        CALL.run(shell, ["probe"])
        marks.add(shell.argv[6])
    assert len(marks) == 10


@pytest.mark.parametrize(
    "noise", [b"", b"Welcome\n", b"no newline: ", b"\xff\0\n", b"rerig-0000\n", b"x" * 5000 + b"\n"]
)
def test_what_comes_before_the_mark_is_dropped(noise: bytes) -> None:
    said = noise + b"MARK\n" + b'{"a": 1}\nMARK\n'
    assert CALL.run(Double(said), ["x"]).stdout.startswith(b'{"a": 1}\nrerig-')
    lines: list[bytes] = []
    assert CALL.stream(Double(said), ["x"], lines.append).status == 0
    assert lines[0] == b'{"a": 1}'
    assert len(lines) == 2
    file = io.BytesIO()
    assert CALL.save(Double(said), ["x"], file).status == 0
    assert file.getvalue().startswith(b'{"a": 1}\nrerig-')


@given(st.binary(max_size=50), st.binary(max_size=50), st.integers(1, 20))
def test_any_noise_and_any_bytes_in_any_pieces_come_apart(noise: bytes, data: bytes, size: int) -> None:
    said = noise.replace(b"MARK", b"") + b"MARK\n" + data.replace(b"MARK", b"")
    file = io.BytesIO(b"of an earlier try")
    assert CALL.save(Double(said, size=size), ["pack"], file).status == 0
    assert file.getvalue() == data.replace(b"MARK", b"")
    assert CALL.run(Double(said), ["x"]).stdout == data.replace(b"MARK", b"")
    lines: list[bytes] = []
    CALL.stream(Double(said, size=size), ["x"], lines.append)
    assert b"\n".join(lines) == data.replace(b"MARK", b"").removesuffix(b"\n")


def test_an_agent_that_never_spoke_is_told_apart() -> None:
    stderr = b"python3: can't open file '/x.pyz': [Errno 2] No such file or directory\n"
    for answer in (
        CALL.run(Double(b"Welcome\n", 2, stderr), ["x"]),
        CALL.stream(Double(b"Welcome\n", 2, stderr), ["x"], lambda line: None),
        CALL.save(Double(b"Welcome\n", 2, stderr), ["x"], io.BytesIO()),
    ):
        assert answer.status == NO_AGENT
        assert "No such file" in answer.last_line()


def test_an_agent_that_complains_instead_of_packing_is_one() -> None:
    answer = CALL.save(Double(b"MARK\n", 2, b"rerig-agent: There is no run here.\n"), ["pack"], io.BytesIO())
    assert (answer.status, answer.last_line()) == (2, "There is no run here.")


@pytest.mark.parametrize("said", [b"", b"{", b"\xff", b"[" * 100_000])
def test_an_answer_that_is_none_is_one_sentence(said: bytes) -> None:
    with pytest.raises(UserError, match=r"^The agent's answer is no JSON: is its version the same as here\?$"):
        Answer(0, said, b"").json()


@pytest.mark.parametrize(
    ("stderr", "sentence"),
    [
        (b"", "It said nothing."),
        (b"\n \n", "It said nothing."),
        (b"rerig-agent: there is no run.\n", "There is no run."),
        (b"warning: x\nrerig-agent: The disk is full\n\n", "The disk is full."),
        (b"\x1b[31moops\xff", "\\x1b[31moops\ufffd."),
        ("파일이 없음".encode(), "파일이 없음."),
    ],
)
def test_a_complaint_becomes_one_sentence(stderr: bytes, sentence: str) -> None:
    assert sentence_of(stderr) == sentence


@given(st.binary())
def test_any_complaint_is_short_and_safe_to_show(stderr: bytes) -> None:
    sentence = sentence_of(stderr)
    assert sentence.isprintable()
    assert sentence.endswith(".")
    assert len(sentence) <= 401

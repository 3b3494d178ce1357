"""The look at a machine: one command that any shell takes and that writes nothing, and what its answers mean."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rerig.errors import UserError
from rerig.upkeep.pythons import find_pythons
from rerig.verify_probe import LONGEST_COMMAND, MARK, START, probe_words, read_look, unreachable

WITHOUT_MEMFD = "import os\ndel os.memfd_create\n"
LOOK = {"evidence": {}, "super": {"verdict": "super"}, "links": [], "fan": {}}


def looked(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """The words as a login shell runs them, in a folder that holds temporary files too."""
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(folder), "HOME": str(folder)}
    return subprocess.run(["sh", "-c", shlex.join(words)], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "a home with spaces"
    folder.mkdir()
    return folder


def test_it_fits_into_one_argument_with_room_to_grow() -> None:
    assert len(shlex.join(["ssh", "box", shlex.join(probe_words("python3", "/"))])) < LONGEST_COMMAND * 3 // 4


def test_no_shell_finds_anything_to_expand() -> None:
    assert not set("'\\!`$") & set(START)


@pytest.mark.parametrize("before", ["", WITHOUT_MEMFD], ids=["from memory", "from a file"])
def test_it_looks_and_leaves_nothing(folder: Path, before: str) -> None:
    words = probe_words(sys.executable, "/")
    words[3] = before + words[3]
    done = looked(words, folder)
    look = read_look(done.returncode, done.stdout, done.stderr)
    assert set(look) >= {"evidence", "super", "links"}
    assert look["evidence"]["jetson"] is None or look["super"]["verdict"] != "not_a_jetson"
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif("3.8" not in find_pythons(), reason="no Python 3.8 here, the oldest that must do")
def test_the_oldest_python_that_must_do_does(folder: Path) -> None:
    done = looked(probe_words(find_pythons()["3.8"].program, "/"), folder)
    assert read_look(done.returncode, done.stdout, done.stderr)["evidence"]["python"].startswith("3.8.")


def test_a_root_that_is_not_there_is_one_sentence(folder: Path) -> None:
    done = looked(probe_words(sys.executable, f"{folder}/none"), folder)
    with pytest.raises(UserError, match=r"^There is no folder .*/none to look below\.$"):
        read_look(done.returncode, done.stdout, done.stderr)


def test_a_machine_without_python_is_one_sentence(folder: Path) -> None:
    done = looked(probe_words("no-such-python3", "/"), folder)
    with pytest.raises(UserError, match="There is no python3 there"):
        read_look(done.returncode, done.stdout, done.stderr)


def test_what_a_login_shell_prints_before_does_not_matter() -> None:
    assert read_look(0, f"Welcome!\n{{}}\n{MARK}\n{json.dumps(LOOK)}\n", "motd") == LOOK


@pytest.mark.parametrize(
    ("status", "output", "errors", "sentence"),
    [
        (1, "", "Python 3.8 or newer is needed there, and this is 3.6.\n", r"^Python 3\.8 or newer .* 3\.6\.$"),
        (
            1,
            "",
            "sudo: a terminal is required to read the password\nsudo: a password is required\n",
            "let sudo ask none",
        ),
        (1, "", "sudo: python3: command not found\n", "There is no python3 there"),
        (127, "", "sh: 1: python3: not found\n", "There is no python3 there"),
        (1, f"{MARK}\n", "Traceback\nKeyError: 'x'\n", r"failed \(status 1\): KeyError: 'x'\.$"),
        (0, f"{MARK}\n[1]\n", "", r"failed \(status 0\)\.$"),
        (0, f'{MARK}\n{{"super"', "", r"failed \(status 0\)\.$"),
        (0, "", "", r"failed \(status 0\)\.$"),
        (137, f"{MARK}\n", "", r"failed \(status 137\)\.$"),
    ],
)
def test_every_other_answer_is_one_sentence(status: int, output: str, errors: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence) as caught:
        read_look(status, output, errors)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("errors", "sentence"),
    [
        (
            "No ED25519 host key is known for [192.0.2.7]:22 and …\nHost key verification failed.",
            "The host key is unknown",
        ),
        ("jetson@192.0.2.7: Permission denied (publickey).", "Nobody is let in"),
        ("ssh: connect to host 192.0.2.7 port 22: Connection refused", "can't be reached by ssh: Connection refused."),
        ("ssh: something new about 192.0.2.7", "can't be reached by ssh: ssh ended with status 255."),
    ],
)
def test_why_ssh_failed_is_said_without_an_address(errors: str, sentence: str) -> None:
    assert sentence in unreachable(errors)
    assert "192.0.2.7" not in unreachable(errors)

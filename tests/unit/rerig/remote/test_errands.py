"""The small programs for another machine's Python, run by the Pythons of this one, however old."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rerig.remote.errands import FIND_AGENT, LOOK, PUT_AGENT, errand
from rerig.upkeep.pythons import Python, _pyenv_roots, find_pythons

MARK = "rerig-mark"
ODD = "a \"b' \\ \n {x} %d 한글 \udcff"
WORDS = "print(json.dumps(WORDS))"


def output(body: str, words: dict[str, str], program: str = sys.executable) -> bytes:
    """What the program prints, which must be no complaint."""
    done = subprocess.run([program, "-I", "-S", "-"], input=errand(body, words, MARK), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def answer(body: str, words: dict[str, str], program: str = sys.executable) -> Any:
    noise, _, said = output(body, words, program).partition(f"\n{MARK}\n".encode())
    assert noise == b""
    return json.loads(said)


@functools.cache
def pythons() -> dict[str, Python]:
    return find_pythons()


@functools.cache
def old_pythons() -> dict[str, str]:
    """Interpreters older than 3.8 that lie about, by their age; few machines have any."""
    named = [path for name in ("python2", "python2.7", "python3.6", "python3.7") if (path := shutil.which(name))]
    kept = [path for root in _pyenv_roots() for path in sorted(root.glob("versions/*/bin/python"))]
    programs = [*named, *(str(path) for path in kept if path.parts[-3].startswith(("2.", "3.6", "3.7")))]
    return {age: program for program in programs if (age := age_of(program))}


def age_of(program: str) -> str | None:
    code = "import sys; sys.stdout.write('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([program, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


@pytest.mark.parametrize("body", [LOOK, FIND_AGENT, PUT_AGENT])
def test_a_python_that_is_too_old_tells_its_age_and_does_nothing(body: str) -> None:
    if not old_pythons():
        pytest.skip("this machine has no Python older than 3.8")
    for age, program in old_pythons().items():
        done = subprocess.run([program, "-"], input=errand(body, {"path": ODD}, MARK), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout.partition(f"\n{MARK}\n".encode())[2]) == {"python": age}


def test_words_arrive_as_they_are_on_every_python() -> None:
    for python in pythons().values():
        assert answer(WORDS, {"odd": ODD}, python.program) == {"odd": ODD}


def test_the_program_is_ascii_and_its_words_can_not_end_it() -> None:
    text = errand(WORDS, {"odd": ODD, '"""': "'''\\"}, MARK)
    assert text.isascii()
    assert answer(WORDS, {'"""': "'''\\"}) == {'"""': "'''\\"}


def test_every_python_looks_around_alike(tmp_path: Path) -> None:
    """The home is that of the user database; what else it may take is tested on machines of the bed."""
    body = LOOK.replace("pwd.getpwuid(os.geteuid()).pw_dir", 'WORDS["home"]')
    assert body != LOOK
    for version, python in pythons().items():
        home = tmp_path / f"home of {version}"
        home.mkdir()
        found = answer(body, {"home": str(home)}, python.program)
        assert found["state_dir"] == str(home / ".local/state/rerig")
        assert found["python"].startswith(version + ".")
        assert found["refused"] == []
        assert str(home / ".local/state/rerig/runs") in found["runs_dirs"]


def test_a_home_whose_name_is_no_text_comes_back_as_it_is(tmp_path: Path) -> None:
    home = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(home)  # noqa: PTH102 - its name is no text
    body = LOOK.replace("pwd.getpwuid(os.geteuid()).pw_dir", 'os.fsdecode(base64.b64decode(WORDS["home"]))')
    found = answer(body, {"home": base64.b64encode(home).decode()})
    assert found["state_dir"] == os.fsdecode(home) + "/.local/state/rerig"


def wanted(path: str, data: bytes) -> dict[str, str]:
    return {
        "path": path,
        "sha256": hashlib.sha256(data).hexdigest(),
        "archive": base64.b64encode(data).decode("ascii"),
    }


def test_an_agent_is_put_and_found_by_every_python(tmp_path: Path) -> None:
    for version, python in pythons().items():
        words = wanted(f"{tmp_path}/{version} \udcff/x.pyz", b"agent")
        assert answer(FIND_AGENT, words, python.program) == {"found": False}
        assert answer(PUT_AGENT, words, python.program) == {"failed": None}
        assert answer(FIND_AGENT, words, python.program) == {"found": True}
        assert Path(words["path"]).read_bytes() == b"agent"


def test_an_agent_that_was_changed_on_the_way_is_not_kept(tmp_path: Path) -> None:
    words = {**wanted(f"{tmp_path}/agents/x.pyz", b"agent"), "sha256": hashlib.sha256(b"other").hexdigest()}
    assert answer(PUT_AGENT, words) == {"failed": "it was changed on the way"}
    assert not (tmp_path / "agents").exists()


def test_an_agent_that_can_not_be_put_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.pyz").mkdir()
    assert answer(PUT_AGENT, wanted(f"{tmp_path}/x.pyz", b"agent"))["failed"] == "Is a directory"
    assert [path.name for path in tmp_path.iterdir()] == ["x.pyz"]

"""The entry point as a user meets it: exit statuses, one sentence on stderr, and what is not imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from invoke.collection import Collection
from invoke.context import Context
from invoke.tasks import task

from rerig import cli
from rerig.errors import UserError

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
HEAVY = {"fabric", "paramiko", "jsonschema", "rich", "scipy", "numpy", "matplotlib", "yaml", "ansible", "pytest"}


def run_task(monkeypatch: pytest.MonkeyPatch, raised: BaseException) -> int:
    """The exit status of a task that raises."""

    @task
    def fail(context: Context) -> None:
        raise raised

    monkeypatch.setattr(cli, "load_namespace", lambda: Collection(fail))
    return cli.main(["./inv", "fail"])


@pytest.mark.parametrize(
    ("raised", "status", "sentence"),
    [
        (UserError("The disk is full."), 1, "./inv: The disk is full.\n"),
        (UserError("--size makes no sense.", 2), 2, "./inv: --size makes no sense.\n"),
        (KeyboardInterrupt(), 130, "./inv: interrupted.\n"),
        (PermissionError(13, "Permission denied", "/a b"), 1, "./inv: /a b: Permission denied.\n"),
        (KeyError("x\ny"), 70, "./inv: bug: KeyError: 'x\\ny' (RERIG_TRACEBACK=1 shows where).\n"),
        (ValueError("one\ntwo"), 70, "./inv: bug: ValueError: one (RERIG_TRACEBACK=1 shows where).\n"),
        (RuntimeError(), 70, "./inv: bug: RuntimeError: no message (RERIG_TRACEBACK=1 shows where).\n"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_whatever_fails_is_one_sentence_and_a_status(
    raised: BaseException,
    status: int,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("RERIG_TRACEBACK", raising=False)
    assert run_task(monkeypatch, raised) == status
    assert capsys.readouterr() == ("", sentence)


def test_a_developer_can_ask_for_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RERIG_TRACEBACK", "1")
    with pytest.raises(KeyError):
        run_task(monkeypatch, KeyError("x"))


def test_wrong_words_end_with_status_2() -> None:
    done = start("no-such-task")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "./inv: There is no task named no-such-task (see ./inv --list).\n"


def test_a_reader_that_leaves_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "rerig", "--list"]
    done = subprocess.run(command, env=ENVIRONMENT, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_broken_pipe_elsewhere_is_not_hidden(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "_nobody_reads", lambda: False)
    assert run_task(monkeypatch, BrokenPipeError(32, "Broken pipe")) == 70


def test_a_pipe_that_is_read_counts_as_read(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        assert not cli._nobody_reads()
        os.close(reading)
        assert cli._nobody_reads()


def test_a_name_that_is_no_text_can_be_printed() -> None:
    program = (
        "import sys; from rerig import cli; cli._launch = lambda argv: print('\\udcff') or 0; sys.exit(cli.main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={**ENVIRONMENT, "LC_ALL": "C.UTF-8"}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "\\udcff\n", "")


def test_listing_the_tasks_imports_nothing_heavy() -> None:
    bare = imported("import invoke")  # which brings PyYAML along where that is installed
    listing = imported("from rerig.cli import main; assert main(['./inv', '--list']) == 0")
    assert "invoke" in listing
    assert (listing - bare) & HEAVY == set()


def imported(program: str) -> set[str]:
    """The top-level packages that a program has imported when it ends."""
    program = f"{program}; import json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


def test_every_task_has_a_one_line_summary_and_help_for_every_flag() -> None:
    namespace = cli.load_namespace()
    for name in namespace.task_names:
        summary = (namespace[name].__doc__ or "").splitlines()[0]
        assert summary.endswith("."), name
        for argument in namespace[name].get_arguments():
            assert argument.help or argument.positional, f"{name} --{argument.name}"


def test_plain_invoke_finds_the_same_tasks() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "invoke", "--list"], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=True
    )
    for name in cli.load_namespace().task_names:
        assert f"  {name} " in done.stdout


def start(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "rerig", *words], env=ENVIRONMENT, capture_output=True, text=True)

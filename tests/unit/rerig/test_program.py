"""The command line's grammar: words after --, flags, help, and what is said about wrong words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invoke.collection import Collection
from invoke.context import Context
from invoke.exceptions import Exit
from invoke.tasks import task

from rerig.errors import UserError
from rerig.program import Launcher, arguments

Calls = list[tuple[str, Any]]


def make_launcher() -> tuple[Launcher, Calls]:
    """A program of three tasks that note what they were called with."""
    calls: Calls = []

    @task(iterable=["path"], help={"host": "Where to run"})
    def rerun(context: Context, path: list[str], host: str = "", repeats: int = 3, quiet: bool = False) -> None:
        """Measure something."""
        calls.append(("rerun", {"path": path, "host": host, "repeats": repeats, "quiet": quiet}))

    @task
    def show(context: Context, file: str) -> None:
        """Show a file."""
        calls.append(("show", file))

    @task
    def validate(context: Context) -> None:
        """Check files."""
        calls.append(("validate", arguments(context)))

    return Launcher("1.2.3", Collection(rerun, results=Collection(show, validate))), calls


def run(*words: str) -> Calls:
    launcher, calls = make_launcher()
    assert launcher.dispatch(["./inv", *words]) == 0
    return calls


def complaint(*words: str) -> str:
    launcher, calls = make_launcher()
    with pytest.raises(UserError) as caught:
        launcher.dispatch(["./inv", *words])
    assert caught.value.exit_status == 2
    assert calls == []
    return str(caught.value)


def test_words_after_the_dashes_stay_apart_and_in_order() -> None:
    words = ["a b.json", "c.json", "", "it's", "--repeats", "results.show", "--", "-h"]
    assert run("results.validate", "--", *words) == [("validate", words)]


@given(st.lists(st.text()))
def test_any_words_after_the_dashes_arrive(words: list[str]) -> None:
    assert run("results.validate", "--", *words) == [("validate", words)]


def test_no_words_after_the_dashes_are_an_empty_list() -> None:
    assert run("results.validate") == [("validate", [])]


def test_plain_invoke_reads_the_words_from_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["inv", "results.validate", "--", "a b"])
    assert arguments(Context()) == ["a b"]
    monkeypatch.setattr("sys.argv", ["inv", "results.validate"])
    assert arguments(Context()) == []


def test_a_repeated_flag_gathers_its_values() -> None:
    [(_, seen)] = run("rerun", "--path", "a b", "--path=-c=d", "--path", "--odd", "--quiet", "--repeats", "5")
    assert seen == {"path": ["a b", "-c=d", "--odd"], "host": "", "repeats": 5, "quiet": True}


@pytest.mark.parametrize("words", [["rerun", "-h"], ["rerun", "--help"], ["--help", "rerun"], ["-h", "rerun"]])
def test_h_is_help_though_a_flag_begins_with_h(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*words) == []
    shown = capsys.readouterr().out
    assert "Measure something." in shown
    assert "--host=STRING" in shown
    assert "Where to run" in shown
    assert " -h" not in shown


@pytest.mark.parametrize("words", [[], ["-h"], ["--help"], ["--list"], ["-l"]])
def test_the_tasks_are_listed(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*words) == []
    shown = capsys.readouterr().out
    assert "results.validate   Check files." in shown


@pytest.mark.parametrize("words", [["--path"], ["--path", "--quiet"], ["--path", ""], ["--path="]])
def test_a_repeatable_flag_without_a_value_is_refused(words: list[str]) -> None:
    assert "--path needs a value" in complaint("rerun", *words)


def test_a_value_that_begins_with_dashes_is_given_after_an_equals_sign() -> None:
    assert run("rerun", "--path=--odd")[0][1]["path"] == ["--odd"]


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_never_taken_for_a_tasks_word(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    launcher, calls = make_launcher()
    assert launcher.dispatch(["./inv", "results.show", flag]) == 0
    assert calls == []
    assert "Show a file." in capsys.readouterr().out


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    run("--version")
    assert capsys.readouterr().out == "rerig 1.2.3\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["rerum"], "There is no task named rerum; did you mean rerun?"),
        (["xyz"], "There is no task named xyz (see ./inv --list)."),
        (["results"], "results is a group of tasks: results.show, results.validate."),
        (["--lisst"], "There is no option named --lisst; did you mean --list?"),
        (["rerun", "--hots", "x"], "There is no flag of rerun named --hots; did you mean --host?"),
        (["rerun", "-x"], "There is no flag of rerun named -x (see ./inv rerun --help)."),
        (["rerun", "new\nline"], "There is no task named new\\nline (see ./inv rerun --help)."),
        (["rerun", "--host"], "--host needs a value (see ./inv rerun --help)."),
        (["rerun", "--quiet=yes"], "There is no task named yes (see ./inv rerun --help)."),
        (["rerun", "--repeats", "many"], "A flag wants a whole number and got 'many'."),
        (["results.show"], "results.show needs FILE (see ./inv results.show --help)."),
        (["--help", "nothing"], "There is no task named nothing (see ./inv --list)."),
    ],
)
def test_a_wrong_word_is_explained_in_one_sentence(words: list[str], sentence: str) -> None:
    assert complaint(*words) == sentence


@pytest.mark.parametrize(("raised", "status"), [(Exit(code=4), 4), (Exit(), 0)])
def test_a_tasks_exit_status_is_handed_on(raised: Exit, status: int) -> None:
    @task
    def leave(context: Context) -> None:
        raise raised

    assert Launcher("0", Collection(leave)).dispatch(["./inv", "leave"]) == status


def test_somebodys_settings_of_invoke_do_not_matter(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".invoke.yaml").write_text("tasks: {executor_class: no.such.Thing}\n", "utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("INVOKE_TASKS_EXECUTOR_CLASS", "no.such.Thing")
    assert run("rerun") != []

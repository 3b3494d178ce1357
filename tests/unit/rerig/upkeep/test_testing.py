"""How the closing line is counted, and which Pythons are left out or failed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rerig.errors import UserError
from rerig.upkeep import lint, pythons, testing
from rerig.upkeep.pythons import Python

HERE = "{}.{}".format(*sys.version_info[:2])


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "BUILD", tmp_path)


def program(tmp_path: Path, body: str) -> str:
    """A stand-in for a Python that runs pytest; $report is where the JUnit report goes."""
    path = tmp_path / "python"
    script = f"#!/bin/sh\nfor word; do case $word in --junitxml=*) report=${{word#*=}} ;; esac; done\n{body}\n"
    path.write_text(script, "utf-8")
    path.chmod(0o755)
    return str(path)


def report(tests: int, failures: int = 0, errors: int = 0, skipped: int = 0) -> str:
    suite = f'<testsuite tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}"/>'
    return f'mkdir -p "${{report%/*}}"; echo \'<testsuites>{suite}</testsuites>\' > "$report"'


def run(tmp_path: Path, body: str) -> tuple[testing.Counts, str]:
    _, counts, text = testing._run(testing._pytest("a run", program(tmp_path, body), ("tests",), "not quiet"))
    return counts, text


def test_counts_come_from_pytests_report(tmp_path: Path) -> None:
    counts, text = run(tmp_path, report(10, failures=1, errors=2, skipped=3) + "; echo shown; exit 1")
    assert counts == testing.Counts(passed=4, failed=3, skipped=3)
    assert text == "shown\n"


def test_a_run_that_breaks_off_is_a_failure(tmp_path: Path) -> None:
    assert run(tmp_path, "echo broken; exit 3") == (testing.Counts(failed=1), "broken\n")


def test_a_run_that_breaks_off_after_its_tests_is_a_failure(tmp_path: Path) -> None:
    assert run(tmp_path, report(4) + "; exit 1")[0] == testing.Counts(passed=4, failed=1)


def test_an_old_report_is_not_counted(tmp_path: Path) -> None:
    run(tmp_path, report(4))
    assert run(tmp_path, "exit 1")[0] == testing.Counts(failed=1)


def test_nothing_to_run_is_no_failure_and_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "exit 5") == (testing.Counts(), testing.NOTHING)
    testing._show("booted (1 s)", testing.Counts(), testing.NOTHING)
    assert capsys.readouterr().out == ""


def test_a_run_that_does_not_end_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "LIMIT_S", 0.1)
    assert run(tmp_path, "exec tail -f /dev/null") == (testing.Counts(failed=1), "not finished after 0.1 s")


def test_skips_are_shown_with_their_reasons_when_all_is_well(tmp_path: Path) -> None:
    body = f"echo dots; echo '=== {testing.SUMMARY} ==='; echo 'SKIPPED [1] no samples'"
    _, text = run(tmp_path, f"{report(2, skipped=1)}; {body}")
    assert text.startswith(testing.SUMMARY)
    assert "no samples" in text
    assert "dots" not in text


def test_no_folder_of_tests_is_forgotten_and_the_longest_come_first(tmp_path: Path) -> None:
    files = ["unit/rerig/deep/test_a.py", "unit/new/test_a.py", "a_new_one/test_b.py", "roles/test_b.py"]
    for name in (*files, "remote/test_b.py", "fixtures/c.txt", "twin/twin.py", "test_d.py", "conftest.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [path.removeprefix(f"{tmp_path}/") for _, paths in testing._parts(tmp_path) for path in paths] == [
        *("remote", "roles", "unit/rerig", "a_new_one", "unit/new"),
        "test_d.py",
    ]


def test_what_counts_as_long_is_there() -> None:
    assert {name for name in testing.LONGEST if not (testing.ROOT / "tests" / name).is_dir()} == set()


def test_tests_beside_the_folders_of_unit_are_not_forgotten(tmp_path: Path) -> None:
    (tmp_path / "unit").mkdir()
    (tmp_path / "unit" / "test_a.py").touch()
    assert [label for label, _ in testing._parts(tmp_path)] == ["unit", "the house's rules"]


@pytest.fixture(autouse=True)
def without_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of these tests starts a machine, whatever is installed here."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(testing, "missing_for_twin", lambda: "qemu-nothing is missing; install it.")


def everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str, full: bool = True) -> int:
    stand_in = program(tmp_path, body)
    monkeypatch.setattr(testing.sys, "executable", stand_in)
    monkeypatch.setattr(testing, "_parts", lambda tests: [("tests", ("tests",))])
    monkeypatch.setattr(lint, "run_checks", lambda: [lint.Outcome("ruff", True, "", 0.0)])
    return testing.run_everything(full)


def test_the_last_line_counts_everything(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(testing, "find_pythons", dict)
    assert everything(monkeypatch, tmp_path, report(5, skipped=1)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "9 passed, 0 failed, 3 skipped"  # twice the tests, one check, and the twin is missing
    assert sum("which this machine hasn't" in line for line in lines) == len(pythons.VERSIONS) - 1


def test_one_failure_anywhere_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(testing, "find_pythons", dict)
    assert everything(monkeypatch, tmp_path, report(5, failures=1)) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "9 passed, 2 failed, 1 skipped"


@pytest.mark.parametrize(("full", "status", "word"), [(True, 1, "FAILED"), (False, 0, "left out")])
def test_a_python_that_cannot_be_tried_fails_only_a_full_run(
    full: bool,
    status: int,
    word: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(python: Python) -> str:
        raise UserError("uv venv failed: no pip")

    other = "3.8"
    monkeypatch.setattr(testing, "find_pythons", lambda: {other: Python(other, "python3.8")})
    monkeypatch.setattr(testing, "test_environment", fail)
    assert everything(monkeypatch, tmp_path, report(5), full) == status
    assert f"{word}: the agent's tests on Python 3.8: uv venv failed: no pip" in capsys.readouterr().out


def test_the_agents_tests_run_on_every_other_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {version: Python(version, version) for version in pythons.VERSIONS}
    monkeypatch.setattr(testing, "find_pythons", lambda: found)
    monkeypatch.setattr(testing, "test_environment", lambda python: program(tmp_path, report(1)))
    assert everything(monkeypatch, tmp_path, report(1)) == 0
    shown = capsys.readouterr().out
    assert [version for version in pythons.VERSIONS if f"agent on {version} (" in shown] == [
        version for version in pythons.VERSIONS if version != HERE
    ]


def test_a_quick_run_leaves_out_slow_tests_and_tries_the_oldest_python_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {version: Python(version, version) for version in pythons.VERSIONS[1:]}
    monkeypatch.setattr(testing, "find_pythons", lambda: found)
    log = tmp_path / "log"
    body = f'echo "$*" >> {log}; {report(1)}'
    monkeypatch.setattr(testing, "test_environment", lambda python: program(tmp_path, body))
    assert everything(monkeypatch, tmp_path, body, full=False) == 0
    shown = capsys.readouterr().out
    oldest = next(version for version in pythons.VERSIONS[1:] if version != HERE)
    assert [version for version in pythons.VERSIONS if f"agent on {version} (" in shown] == [oldest]
    assert "left out: slow tests" in shown
    assert "slow tests, the twin's" in shown
    assert "qemu-nothing" not in shown
    log_text = log.read_text("utf-8")
    assert "-m not quiet and not twin and not slow" in log_text
    assert "-m quiet and not twin" in log_text
    assert "-m twin" not in log_text


@pytest.mark.parametrize(("ci", "status", "word"), [("", 0, "left out"), ("true", 1, "FAILED")])
def test_a_twin_that_cannot_run_is_named_and_fails_in_ci(
    ci: str, status: int, word: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(testing, "find_pythons", dict)
    monkeypatch.setenv("CI", ci)
    log = tmp_path / "log"
    assert everything(monkeypatch, tmp_path, f'echo "$*" >> {log}; {report(1)}') == status
    assert f"{word}: the twin's tests: qemu-nothing is missing; install it.\n" in capsys.readouterr().out
    assert "-m twin" not in log.read_text("utf-8")
    assert "-m quiet and not twin" in log.read_text("utf-8")


def test_the_twins_tests_run_once_and_those_that_need_quiet_run_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(testing, "find_pythons", dict)
    monkeypatch.setattr(testing, "missing_for_twin", lambda: "")
    log = tmp_path / "log"
    assert everything(monkeypatch, tmp_path, f'echo "$*" >> {log}; {report(1)}') == 0
    lines = log.read_text("utf-8").splitlines()
    markers = [line.partition(" -m ")[2].partition(" --")[0] for line in lines]
    assert sorted(markers[:-1]) == ["not quiet and not twin", "twin and not quiet"]
    assert markers[-1] == "quiet"
    assert "--- twin (" in capsys.readouterr().out


@pytest.mark.parametrize(("full", "here"), [(True, "rerig"), (False, "brief")])
def test_only_a_full_run_draws_all_examples_and_only_on_this_python(
    full: bool, here: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    other = next(version for version in pythons.VERSIONS if version != HERE)
    monkeypatch.setattr(testing, "find_pythons", lambda: {other: Python(other, other)})
    (tmp_path / "other").mkdir()
    further = program(tmp_path / "other", f'echo "further $RERIG_EXAMPLES" >> {log}; {report(1)}')
    monkeypatch.setattr(testing, "test_environment", lambda python: further)
    monkeypatch.setattr(testing, "_quiet_files", lambda folder: [])
    assert everything(monkeypatch, tmp_path, f'echo "here $RERIG_EXAMPLES" >> {log}; {report(1)}', full) == 0
    assert {f"here {here}", "further brief"} <= set(log.read_text("utf-8").splitlines())


def test_no_file_with_quiet_tests_is_forgotten(tmp_path: Path) -> None:
    for name, text in (("a/test_one.py", "pytestmark = [pytest.mark.quiet]"), ("a/test_two.py", "no such word")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    assert testing._quiet_files(tmp_path) == [str(tmp_path / "a" / "test_one.py")]

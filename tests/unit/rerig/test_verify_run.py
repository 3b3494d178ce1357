"""The checks themselves, by a pytest of their own, on boards in folders and over a stand-in for ssh."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_plays import path_before, stub
from rerig.checkout import ROOT
from rerig.desired import role_defaults
from rerig.errors import UserError
from rerig.upkeep import testing
from rerig.verify_checks import ANYWHERE, GROUPS
from rerig.verify_hosts import Subject
from rerig.verify_run import CHECKS, Children, assess, run_checks
from twin.l4t.bench import Bench
from twin.l4t.personalities import PERSONALITIES

# What a systemd of a board without a desktop answers.
SYSTEMCTL = """
case "$1 $2" in
"show nvpmodel.service") echo ActiveState=inactive; echo UnitFileState=enabled ;;
"is-active nvfancontrol.service") ;;
"list-unit-files ") echo nvpmodel.service; echo nvfancontrol.service ;;
*) exit 3 ;;
esac
"""
# It notes its options, and runs the command here.
SSH = """
for word; do command=$word; done
printf '%s\\n' "$*" | tr '\\n' ' ' | cut -c 1-700 >>"$LOG"
exec sh -c "$command"
"""
BOARD = ["super", "power_mode", "clocks", "fan", "nvme", "versions"]


def desired(root: Path | str = "/", **values: Any) -> dict[str, Any]:
    return {**role_defaults(), "ansible_python_interpreter": sys.executable, "board_state_root": str(root), **values}


def checked(subject: Subject, groups: list[str]) -> dict[str, Any]:
    return run_checks(subject, groups, False, Children())


def states(host: dict[str, Any]) -> dict[str, str]:
    return {check["what"]: check["status"] for check in host["checks"]}


@pytest.fixture
def board(tmp_path: Path) -> Callable[..., Subject]:
    """A board in a folder, as a subject that is to be like ``values``."""

    def make(name: str, **values: Any) -> Subject:
        bench = Bench(tmp_path / name, PERSONALITIES[name])
        return Subject(name, "local://", desired=desired(bench.root, **values))

    return make


def test_every_group_is_a_file_of_checks() -> None:
    assert {path.stem.removeprefix("test_") for path in CHECKS.glob("test_*.py")} == set(GROUPS)
    assert set(ANYWHERE) < set(GROUPS)


def test_the_clones_own_tests_leave_the_checks_of_machines_alone() -> None:
    """What goes round pytest's lanes must neither, so each of the two places has to name them."""
    assert 'norecursedirs = ["tests/state", ' in (ROOT / "pyproject.toml").read_text("utf-8")
    parts = [path for _, paths in testing._parts(ROOT / "tests") for path in paths]
    assert parts
    assert not [path for path in parts if Path(path).is_relative_to(CHECKS)]


def test_a_super_board_is_green_and_its_warnings_do_not_count(board: Callable[..., Subject]) -> None:
    host = checked(board("orin-nano-super"), BOARD)
    assert host["green"], host
    assert host["problem"] is None
    assert host["super"]["verdict"] == "super"
    assert [check["group"] for check in host["checks"]] == sorted(
        (check["group"] for check in host["checks"]), key=GROUPS.index
    )
    slots = next(check for check in host["checks"] if check["what"] == "bootloader slots and updates")
    assert (slots["status"], len(slots["warnings"])) == ("warning", 1)


def test_the_posts_symptom_is_found_in_the_layer_that_has_it(board: Callable[..., Subject]) -> None:
    host = checked(board("orin-nano-half"), BOARD)
    assert not host["green"]
    failed = {check["what"]: check for check in host["checks"] if check["status"] == "failed"}
    assert set(failed) == {"clock tables of the bootloader", "super as a whole"}
    table = failed["clock tables of the bootloader"]
    assert "ends at 624.75 MHz" in table["found"]
    assert "ends at 1020 MHz" in table["wanted"]
    assert table["sentence"] == host["super"]["cause"]
    assert host["super"]["cause"].endswith("ends at 624.75 MHz: the bootloader in the flash is not Super.")


def test_a_lower_mode_is_right_where_it_is_wanted(board: Callable[..., Subject]) -> None:
    groups = ["super", "power_mode"]
    lower = board("orin-nano-super-25w", power_mode_name="25W")
    assert checked(lower, groups)["green"]
    host = checked(replace(lower, desired={**lower.desired, "power_mode_name": "7W"}), groups)
    sentence = next(check["sentence"] for check in host["checks"] if check["what"] == "power mode")
    assert sentence == "nvpmodel's file here has no mode 7W: it has 15W, 25W, MAXN_SUPER."
    assert states(host)["super as a whole"] == "failed"


def test_a_machine_that_is_no_board_is_told_what_to_ask(tmp_path: Path) -> None:
    host = checked(Subject("box", "local://", desired=desired(tmp_path)), ["super", "services", "nvme"])
    assert not host["green"]
    for check in host["checks"]:
        assert check["status"] == ("ok" if check["group"] == "nvme" else "failed")
        if check["group"] != "nvme":
            assert check["sentence"].startswith("This is not a Jetson")
            assert check["sentence"].endswith("on a machine that is none, use --only headless,memory,nvme.")


@pytest.fixture
def ssh_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What ssh was told; the machine behind it is this one, with a board's systemd."""
    folder = tmp_path / "bin"
    stub(folder, "ssh", SSH)
    stub(folder, "systemctl", SYSTEMCTL)
    monkeypatch.setenv("LOG", str(tmp_path / "ssh.log"))
    monkeypatch.setenv("PATH", path_before(folder, os.environ["PATH"]))
    return tmp_path / "ssh.log"


def test_ssh_takes_no_unknown_key_asks_nothing_and_is_used_once_to_look(
    board: Callable[..., Subject], ssh_log: Path
) -> None:
    values = board("orin-nano-super").desired
    host = checked(Subject("me@box:2222", "ssh://me@box:2222", desired=values), ["super", "services"])
    assert host["green"], host
    calls = ssh_log.read_text("utf-8").splitlines()
    strict = "-o BatchMode=yes -o StrictHostKeyChecking=yes -o VerifyHostKeyDNS=no -o UpdateHostKeys=no "
    assert all(call.startswith(strict) for call in calls)
    assert all("-o User=me -o Port=2222" in call and "ControlPath=" in call for call in calls)
    assert sum("memfd_create" in call for call in calls) == 1


def test_an_inventorys_own_options_come_after_ours(tmp_path: Path, ssh_log: Path) -> None:
    variables = {"ansible_ssh_common_args": "-o StrictHostKeyChecking=no", "ansible_ssh_pass": "hush"}
    lab = tmp_path / "lab.json"
    lab.write_text(
        json.dumps({"all": {"hosts": {"orin": {**variables, "ansible_user": "me", "ansible_host": "{{ x }}"}}}}),
        "utf-8",
    )
    reach = {**variables, "ansible_host": "filled-in.example.net", "ansible_become": "no"}
    host = checked(Subject("orin", "ansible://orin", str(lab), desired(tmp_path, **reach)), ["nvme"])
    assert host["green"], host
    (call,) = ssh_log.read_text("utf-8").splitlines()
    assert call.startswith("-o BatchMode=yes -o StrictHostKeyChecking=yes ")
    assert "hush" not in call
    assert " filled-in.example.net " in call
    assert "sudo" not in call


def test_a_machine_that_ssh_does_not_reach_is_one_sentence_and_no_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub(tmp_path / "bin", "ssh", "echo 'ssh: connect to host 192.0.2.7 port 22: No route to host' >&2; exit 255")
    monkeypatch.setenv("PATH", path_before(tmp_path / "bin", os.environ["PATH"]))
    host = checked(Subject("box", "ssh://box", desired=desired()), list(GROUPS))
    assert host == {
        "label": "box",
        "green": False,
        "problem": "It can't be reached by ssh: No route to host.",
        "super": None,
        "checks": [],
    }


def test_a_host_that_the_inventory_has_not_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text("all: {hosts: {orin: }}\n", "utf-8")
    with pytest.raises(UserError, match=r"\(status 4\): There is no host ansible://nobody\.$"):
        checked(Subject("nobody", "ansible://nobody", str(tmp_path / "lab.yml"), desired()), ["nvme"])


def test_checks_that_take_too_long_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rerig.verify_run.LIMIT_S", 0.2)
    children = Children()
    with pytest.raises(UserError, match=r"had not ended after 0\.2 s"):
        children.run(["sh", "-c", "sleep 1000 & wait"], dict(os.environ))
    children.end_all()
    with pytest.raises(UserError, match="were stopped"):
        children.run(["true"], dict(os.environ))


def told(*statuses: str) -> dict[str, Any]:
    checks = [{"group": "nvme", "what": f"check {place}", "status": status} for place, status in enumerate(statuses)]
    return {"problem": None, "look": None, "checks": checks}


@pytest.mark.parametrize(
    ("report", "status", "green", "problem"),
    [
        (told("ok", "warning"), 0, True, None),
        (told("ok", "failed"), 1, False, None),
        (told("ok", "skipped"), 1, False, "Skipped, so that nothing is known of it: check 1."),
        (told("ok"), 1, False, None),
        (told("ok"), 2, False, "The checks broke off (status 2): not all not checked."),
        (told(), 5, False, "The checks broke off (status 5): nvme not checked."),
        ({**told(), "problem": "It is off."}, 1, False, "It is off."),
    ],
)
def test_only_what_was_checked_in_full_is_green(
    report: dict[str, Any], status: int, green: bool, problem: str | None
) -> None:
    host = assess("box", report, status, ["nvme"])
    assert (host["green"], host["problem"]) == (green, problem)


def test_a_group_that_nobody_checked_is_not_green_whatever_pytest_says() -> None:
    host = assess("box", told("ok"), 0, ["nvme", "fan"])
    assert (host["green"], host["problem"]) == (False, "The checks broke off (status 0): fan not checked.")


def by_hand(tmp_path: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """pytest as somebody starts it, with the plugins that are installed."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words],
        cwd=tmp_path,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


def test_plain_pytest_checks_too(tmp_path: Path) -> None:
    done = by_hand(tmp_path, str(CHECKS / "test_nvme.py"), "--hosts=local://")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "local: " in done.stdout


def test_plain_pytest_takes_no_host_over_which_unknown_keys_are_accepted(tmp_path: Path) -> None:
    for words in (["--hosts=box"], ["--hosts=ssh://box,paramiko://box"]):
        done = by_hand(tmp_path, str(CHECKS / "test_nvme.py"), *words)
        assert done.returncode == 4
        assert "give a host as ssh://user@box, ansible://name or local://." in done.stderr


def test_a_check_that_is_skipped_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "not_today.py").write_text(
        "import pytest\n\ndef pytest_collection_modifyitems(items):\n"
        "    items[0].add_marker(pytest.mark.skip(reason='not today'))\n",
        "utf-8",
    )
    words = [str(CHECKS / "test_nvme.py"), "-p", "not_today", f"--rerig-report={tmp_path / 'report.json'}"]
    done = by_hand(tmp_path, *words, PYTHONPATH=str(tmp_path))
    assert (done.returncode, "1 skipped" in done.stdout) == (1, True), done.stdout + done.stderr
    (host,) = json.loads((tmp_path / "report.json").read_text("utf-8"))["hosts"]
    assert [check["status"] for check in host["checks"]] == ["skipped"]

"""./inv verify from its words to what it prints and its exit status; the checks are stood in for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rerig import verify as module
from rerig.errors import UserError
from rerig.verify import parse_groups, verify
from rerig.verify_checks import GROUPS
from rerig.verify_hosts import Subject

CAUSE = "The mode says MAXN_SUPER but the GPU's table ends at 624.75 MHz: the bootloader in the flash is not Super."


def check(what: str, status: str = "ok", group: str = "super", **values: Any) -> dict[str, Any]:
    found = {"found": f"{what} found", "wanted": f"{what} wanted", "sentence": None, "warnings": []}
    return {"group": group, "what": what, "status": status, **found, **values}


def host(label: str, *checks: dict[str, Any], **values: Any) -> dict[str, Any]:
    green = bool(checks) and all(one["status"] in ("ok", "warning") for one in checks)
    verdict = {"cause": CAUSE, "board": {"name": "Orin Nano 8GB", "release": "36.5.2"}, "needs_root": ["the slots"]}
    return {"label": label, "green": green, "problem": None, "super": verdict, "checks": list(checks), **values}


GREEN = host("orin", check("device tree"), check("load", "warning", "memory", warnings=["Something runs."]))
RED = host("nano", check("device tree"), check("clock tables", "failed", sentence=CAUSE))


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the checks of each machine say, by its label."""
    found: dict[str, Any] = {}

    def run(subject: Subject, groups: list[str], sudo: bool, _children: object) -> dict[str, Any]:
        answer = found[subject.label]
        if isinstance(answer, Exception):
            raise answer
        return dict(answer)

    monkeypatch.setattr(module, "run_checks", run)
    monkeypatch.setattr(module, "find_subjects", lambda words, _: [Subject(word, f"ssh://{word}") for word in words])
    return found


def test_the_cause_is_the_last_word_but_one(answers: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    answers["nano"] = RED
    assert verify(["nano"], "", "", as_json=False) == 1
    shown = capsys.readouterr()
    assert shown.err == ""
    lines = [line for line in shown.out.splitlines() if line]
    assert lines[0] == "nano: Orin Nano 8GB, L4T 36.5.2"
    assert lines[1].split() == ["state", "what", "found", "wanted"]
    assert lines[-3:] == ["Root would also see the slots.", CAUSE, "Not in the known state: 1 of 2 checks failed."]
    assert shown.out.count(CAUSE) == 1


def test_warnings_are_shown_and_do_not_fail(answers: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    answers["orin"] = GREEN
    assert verify(["orin"], "", "", as_json=False) == 0
    shown = capsys.readouterr().out
    assert "warning: load: Something runs." in shown
    assert "In the known state: 2 checks, 1 with a warning." in shown


def test_one_machine_that_fails_hides_no_other(answers: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    answers.update(orin=GREEN, nano=RED, off=UserError("It can't be reached by ssh: No route to host."))
    assert verify(["orin", "off", "nano"], "", "", as_json=False) == 1
    shown = capsys.readouterr()
    assert shown.err == "./inv: off: It can't be reached by ssh: No route to host.\n"
    assert [line for line in shown.out.splitlines() if line][-3:] == [
        "orin: In the known state: 2 checks, 1 with a warning.",
        "off: nothing could be checked.",
        "nano: Not in the known state: 1 of 2 checks failed.",
    ]


def test_json_is_one_document(answers: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    answers.update(orin=GREEN, off=UserError("It is off."))
    assert verify(["orin", "off"], "", "", as_json=True) == 1
    document = json.loads(capsys.readouterr().out)
    assert document == {
        "format": "rerig-verify",
        "format_version": "1.0",
        "hosts": [GREEN, {"label": "off", "green": False, "problem": "It is off.", "super": None, "checks": []}],
    }


def test_names_and_texts_move_no_cursor(answers: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    answers["\x1b[2J"] = host("\x1b[2J", check("device\rtree", found="a\x1b[1mb\nc"), problem="It broke off.")
    verify(["\x1b[2J"], "", "", as_json=False)
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err
    assert "\r" not in shown.out


def test_no_machine_is_no_success(answers: dict[str, Any]) -> None:
    assert verify([], "", "", as_json=False) == 1


def test_groups_are_checked_before_any_machine_is_met() -> None:
    assert parse_groups("") == list(GROUPS)
    assert parse_groups("nvme, super,nvme") == ["super", "nvme"]
    for only, shown in (("super,hedless", "hedless"), (",", "an empty name"), ("Super", "Super")):
        with pytest.raises(UserError, match=f"no checks named {shown}; there are super, power_mode") as caught:
            verify(["nobody"], "", only, as_json=False)
        assert caught.value.exit_status == 2


def test_root_here_is_had_by_sudo_before_the_command() -> None:
    with pytest.raises(UserError, match=r"start \./inv with sudo"):
        verify([], "", "", as_json=False, sudo=True)

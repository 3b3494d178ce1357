"""What a provisioning prints: what changed, what waits for a reboot, and the command to type next."""

from __future__ import annotations

import pytest

from rerig.errors import UserError
from rerig.play import Played
from rerig.play_events import HostOutcome, RoleOutcome
from rerig.report.provisioning import Call, print_provisioned, print_restored

ROLES = ["power_mode", "headless", "bench_tools"]
MODE = ["power mode 15W → MAXN_SUPER"]


def call(*words: str, inventory: str | None = None, check: bool = False) -> Call:
    return Call(list(words), inventory, {f"name of {word}": word for word in words}, check)


def played(status: int = 0, **hosts: HostOutcome) -> Played:
    return Played(status, {f"name of {word}": outcome for word, outcome in hosts.items()})


def done(reboot: bool = False, **changes: list[str]) -> HostOutcome:
    roles = {role: RoleOutcome(sentences=what, skipped=False, reboot_required=reboot) for role, what in changes.items()}
    return HostOutcome(roles=roles)


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines() if line.strip()]


def test_each_role_says_what_it_changed_and_verify_is_next(capsys: pytest.CaptureFixture[str]) -> None:
    orin = done(power_mode=MODE, headless=["one", "two"], bench_tools=[])
    assert print_provisioned(played(orin=orin), call("orin"), ROLES) == 0
    shown = lines(capsys)
    assert shown[0] == "machine role what changed"
    assert shown[2:] == [
        "orin power_mode power mode 15W → MAXN_SUPER",
        "headless one",
        "two",
        "bench_tools as it should be",
        "Next: ./inv verify --host orin",
    ]


def test_words_are_shown_as_they_must_be_typed(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = {"a b": done(bench_tools=[])}
    print_provisioned(played(**outcome), call("a b", inventory="my lab/hosts.yml"), ROLES)
    assert lines(capsys)[-1] == "Next: ./inv verify --host 'a b' --inventory 'my lab/hosts.yml'"


def test_a_desktop_that_is_still_there_waits_for_a_reboot_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    print_provisioned(played(orin=done(reboot=True, headless=["x"])), call("orin"), ROLES)
    assert lines(capsys)[-2:] == ["in force after a reboot", "Next: reboot orin, then ./inv verify --host orin"]


def test_a_reboot_that_an_earlier_call_left_to_do_is_still_told(capsys: pytest.CaptureFixture[str]) -> None:
    print_provisioned(played(orin=done(reboot=True, headless=[])), call("orin"), ROLES)
    assert lines(capsys)[-2] == "orin headless as it should be after a reboot"


def test_a_mode_that_nvpmodel_reboots_for_is_asked_for_anew(capsys: pytest.CaptureFixture[str]) -> None:
    print_provisioned(played(orin=done(reboot=True, power_mode=MODE)), call("orin"), ROLES)
    assert lines(capsys)[-1] == (
        "Next: ./inv provision --host orin --only power_mode --reboot (reboots orin), then ./inv verify --host orin"
    )


@pytest.mark.parametrize(("changes", "task"), [(MODE, "provision"), ([], "verify")])
def test_a_check_says_what_would_change(changes: list[str], task: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_provisioned(played(orin=done(power_mode=changes)), call("orin", check=True), ROLES)
    shown = lines(capsys)
    assert shown[0] == "machine role what would change"
    assert shown[-1] == f"Next: ./inv {task} --host orin"


def test_a_machine_that_is_no_jetson_is_said_to_be_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = HostOutcome({"power_mode": RoleOutcome()}, not_a_jetson="This is not a Jetson.")
    print_provisioned(played(desk=outcome), call("desk"), ROLES)
    assert "desk power_mode left alone: This is not a Jetson." in lines(capsys)


def test_a_single_machine_that_failed_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = HostOutcome({"power_mode": RoleOutcome(skipped=False)}, "Task failed: no mode TURBO.", "power_mode")
    with pytest.raises(UserError, match=r"^orin: no mode TURBO\.$"):
        print_provisioned(played(2, orin=outcome), call("orin"), ROLES)
    assert lines(capsys) == []


def test_of_several_those_that_failed_are_told_beside_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    gone = HostOutcome(failure="Failed to connect to the host via ssh: timed out", unreachable=True)
    with pytest.raises(UserError, match=r"^1 of 2 machines are not in their known state: gone\.$"):
        print_provisioned(played(4, orin=done(power_mode=MODE), gone=gone), call("orin", "gone"), ROLES)
    shown = lines(capsys)
    assert "gone gone can't be reached: timed out." in shown
    assert not any(line.startswith("Next") for line in shown)


def test_a_machine_that_the_play_never_came_to_has_failed() -> None:
    with pytest.raises(UserError, match=r"^two: Ansible ended before it came to this machine; see above\.$"):
        print_provisioned(played(2), call("two"), ROLES)


def test_a_status_without_a_reason_is_not_green() -> None:
    assert print_provisioned(played(250, orin=done(power_mode=[])), call("orin"), ROLES) == 1


def test_what_was_put_back_is_told_and_that_packages_stay(capsys: pytest.CaptureFixture[str]) -> None:
    orin = done(bench_tools=[], headless=[], power_mode=["power mode MAXN_SUPER → 15W"])
    assert print_restored(played(orin=orin), call("orin"), ROLES[::-1]) == 0
    assert lines(capsys)[2:] == [
        "orin bench_tools installed packages stay",
        "headless nothing to put back",
        "power_mode power mode MAXN_SUPER → 15W",
    ]


@pytest.mark.parametrize(
    ("role", "following"),
    [
        ("headless", "Next: reboot orin, to have the desktop back"),
        ("power_mode", "Next: ./inv restore --host orin --reboot (reboots orin)"),
    ],
)
def test_what_was_put_back_may_wait_for_a_reboot(role: str, following: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_restored(played(orin=done(reboot=True, **{role: ["x"]})), call("orin"), ROLES)
    assert lines(capsys)[-1] == following


def test_a_check_of_restore_says_how_to_do_it(capsys: pytest.CaptureFixture[str]) -> None:
    print_restored(played(orin=done(headless=["x"])), call("orin", check=True), ROLES)
    assert lines(capsys)[-1] == "Next: ./inv restore --host orin"


def test_nothing_of_a_machines_words_moves_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    print_provisioned(played(orin=done(power_mode=["a\x1b[2Jb"])), call("orin"), ROLES)
    assert "\x1b" not in capsys.readouterr().out

"""What the callback plugin writes of a real play: a line a task, and nothing that a task kept to itself."""

from __future__ import annotations

import json

import pytest

from ansible_plays import LOCAL
from rerig.play import Played, run_play
from rerig.play_hosts import PlayHosts

PLAYBOOK = """\
- hosts: all
  gather_facts: false
  roles: [fan]
  tasks:
    - when: inventory_hostname == "mended"
      block:
        - block: [fail: {msg: never mind}]
          rescue: [debug: {msg: mended}]
        - command: "false"
          ignore_errors: true
        - command: echo {{ item }}
          loop: [one, two]
          no_log: true
    - command: {argv: [sh, -c, "echo 'it burns' >&2; exit {{ item }}"]}
      loop: [0, 3]
      when: inventory_hostname == "failing"
    - assert: {that: false, fail_msg: There is no mode TURBO., quiet: true}
      when: inventory_hostname == "asserting"
    - command: {argv: [sh, -c, "echo secret; exit 1"]}
      no_log: true
      when: inventory_hostname == "silent"
"""
ROLE = """\
- command: echo fan
- command: echo nothing
  changed_when: false
- set_fact: {other: 1, fan_changed_what: ["fan quiet → cool"], fan_reboot_required: true}
- command: echo skipped
  when: false
"""
HOSTS = ("mended", "failing", "asserting", "silent")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """One play for all tests, from a folder with a space in its name."""
    folder = tmp_path_factory.mktemp("a lab")
    (folder / "roles/fan/tasks").mkdir(parents=True)
    (folder / "roles/fan/tasks/main.yml").write_text(ROLE, "utf-8")
    (folder / "play.yml").write_text(PLAYBOOK, "utf-8")
    hosts: dict[str, object] = dict.fromkeys(HOSTS, LOCAL)
    hosts["gone"] = {"ansible_host": "gone.invalid"}
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts}}), "utf-8")
    names = {name: name for name in (*HOSTS, "gone")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", "")
        patch.setenv("ANSIBLE_FORKS", "5")
        return run_play(str(folder / "play.yml"), PlayHosts(str(folder / "hosts.json"), names), [])


def test_a_role_is_told_with_what_it_says_of_itself(played: Played) -> None:
    fan = played.hosts["mended"].roles["fan"]
    assert (fan.sentences, fan.tasks, fan.reboot_required, fan.skipped) == (
        ["fan quiet → cool"],
        ["command"],
        True,
        False,
    )


def test_tasks_are_counted_and_those_that_ask_the_host_apart(played: Played) -> None:
    mended = played.hosts["mended"]
    assert (mended.tasks, mended.remote_tasks, mended.changed) == (7, 4, 3)


def test_what_was_mended_or_ignored_is_no_failure(played: Played) -> None:
    assert played.hosts["mended"].failure is None


@pytest.mark.parametrize(("host", "said"), [("failing", "it burns"), ("asserting", "There is no mode TURBO.")])
def test_a_failure_is_told_in_its_own_words(host: str, said: str, played: Played) -> None:
    assert played.hosts[host].failure == said
    assert not played.hosts[host].unreachable


def test_what_a_task_keeps_to_itself_is_not_told(played: Played) -> None:
    silent = str(played.hosts["silent"].failure)
    assert "no_log" in silent
    assert "secret" not in silent


def test_a_machine_that_is_not_there_is_unreachable(played: Played) -> None:
    gone = played.hosts["gone"]
    assert gone.unreachable
    assert "gone.invalid" in str(gone.failure)
    assert played.status != 0

"""How a playbook is run: its environment, its end, and what comes back. A shell script stands in for Ansible."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from rerig import play
from rerig.errors import UserError
from rerig.play_hosts import PlayHosts

BOX = PlayHosts(None, {"box": "box"})
LINE = json.dumps({"event": "end", "hosts": {"box": {"changed": 2}}})


def ansible(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let a script be Ansible; its arguments are the flags."""
    monkeypatch.setattr(play, "playbook_command", lambda name, local: ["sh", "-c", script, name])


def environment(local: bool = False) -> dict[str, str]:
    return play.play_environment(Path("/scratch"), Path("/scratch/lines"), local)


def test_what_ansible_tells_comes_back_with_its_status(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ansible(monkeypatch, f"echo PLAY RECAP; echo '{LINE}' >> \"$RERIG_PLAY_LINES\"; exit 2")
    played = play.run_play("site.yml", BOX, ["--check"])
    assert (played.status, played.hosts["box"].changed) == (2, 2)
    assert capfd.readouterr() == ("", "PLAY RECAP\n")


def test_flags_and_hosts_reach_ansible(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    ansible(monkeypatch, f'cat "${{1#--limit=@}}"; echo "$2"; echo \'{LINE}\' >> "$RERIG_PLAY_LINES"')
    play.run_play("site.yml", BOX, ["--check"])
    assert capfd.readouterr().err == "box\n--check\n"


def test_a_play_that_never_began_is_a_users_error(monkeypatch: pytest.MonkeyPatch) -> None:
    ansible(monkeypatch, "exit 4")
    with pytest.raises(
        UserError, match=r"^Ansible ended \(status 4\) before it did anything on a machine; see above\.$"
    ):
        play.run_play("site.yml", BOX, [])


def test_a_signal_ends_ansible_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = f"trap 'touch \"{tmp_path}/ended\"; exit 99' INT; kill -TERM $PPID; while :; do sleep 0.05; done"
    ansible(monkeypatch, script)
    with pytest.raises(UserError, match=r"^stopped by SIGTERM\.$") as caught:
        play.run_play("site.yml", BOX, [])
    assert caught.value.exit_status == 128 + signal.SIGTERM
    assert (tmp_path / "ended").exists()


def test_nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ansible(monkeypatch, f'test -d "$ANSIBLE_HOME"; echo \'{LINE}\' >> "$RERIG_PLAY_LINES"')
    play.run_play("site.yml", BOX, [])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_a_long_name_holds_no_sockets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    long = tmp_path / ("x" * 80)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    monkeypatch.setenv("HOME", str(long))
    ansible(monkeypatch, f"echo \"$ANSIBLE_HOME\" > '{tmp_path}/home'; echo '{LINE}' >> \"$RERIG_PLAY_LINES\"")
    play.run_play("site.yml", BOX, [])
    assert len((tmp_path / "home").read_text("utf-8")) < play.LONGEST_FOLDER
    assert "ANSIBLE_SSH_CONTROL_PATH_DIR" not in environment()


def test_ansible_speaks_english_and_checks_host_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", "ko")
    monkeypatch.setenv("ANSIBLE_HOST_KEY_CHECKING", "false")
    own = environment()
    assert "LANGUAGE" not in own
    assert (own["LC_ALL"], own["ANSIBLE_HOST_KEY_CHECKING"]) == ("C.UTF-8", "true")
    assert (play.ROOT / "plugins" / "callback" / "rerig_lines.py").is_file()
    assert own["ANSIBLE_CALLBACK_PLUGINS"] == str(play.ROOT / "plugins" / "callback")


def test_a_users_own_callbacks_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSIBLE_CALLBACKS_ENABLED", "timer")
    monkeypatch.setenv("ANSIBLE_CALLBACK_PLUGINS", "/mine")
    own = environment()
    assert own["ANSIBLE_CALLBACKS_ENABLED"] == "timer,rerig_lines"
    assert own["ANSIBLE_CALLBACK_PLUGINS"].split(os.pathsep)[0] == "/mine"


@pytest.mark.parametrize("home", ["", "/proc/nowhere"])
def test_a_home_that_is_none_is_not_needed(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", home)
    own = environment()
    assert own.get("HOME") != ""
    assert own["ANSIBLE_HOME"] == "/scratch"
    assert home == "" or "ANSIBLE_SSH_CONTROL_PATH_DIR" not in own


def test_only_this_machine_has_its_temporary_files_in_our_folder() -> None:
    assert environment(local=True)["ANSIBLE_REMOTE_TEMP"] == "/scratch/remote"
    assert "ANSIBLE_REMOTE_TEMP" not in environment()


def test_the_playbook_runs_from_this_environment() -> None:
    command = play.playbook_command("tools.yml", local=True)
    assert command[1:5] == ["-I", "-m", "ansible", "playbook"]
    assert Path(command[5]).is_file()


def test_an_image_without_a_system_python_uses_our_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(play, "SYSTEM_PYTHON", tmp_path / "missing")
    assert play.playbook_command("tools.yml", local=True)[-1].startswith("--extra-vars=ansible_python_interpreter=/")
    assert play.playbook_command("tools.yml", local=False)[-1].endswith("tools.yml")

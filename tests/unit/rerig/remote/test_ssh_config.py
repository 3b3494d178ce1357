"""The user's ssh_config with what it includes, read as ssh reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rerig.errors import UserError
from rerig.remote import ssh_config
from rerig.remote.ssh_config import connect_limit_s, file_names, keepalive_s, port_of, read_ssh_config


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's .ssh; the system's file is beside it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(ssh_config, "SYSTEM", tmp_path / "system" / "ssh_config")
    (tmp_path / "system").mkdir()
    (tmp_path / ".ssh").mkdir()
    return tmp_path / ".ssh"


def options(name: str = "orin") -> Any:
    return read_ssh_config().lookup(name)


def test_without_files_a_name_stands_for_itself(ssh: Path) -> None:
    assert dict(options()) == {"hostname": "orin"}
    ssh.rmdir()
    assert dict(options()) == {"hostname": "orin"}


def test_the_users_file_goes_before_the_systems(ssh: Path) -> None:
    (ssh / "config").write_text("Host orin\n  Port 2222\n")
    (ssh.parent / "system" / "ssh_config").write_text("Port 22\nUser jetson\nHost other\n  User nobody\n")
    assert port_of(options()) == 2222
    assert options()["user"] == "jetson"


def test_files_are_included_by_patterns_from_their_own_folder(ssh: Path) -> None:
    (ssh / "config.d").mkdir()
    (ssh / "config.d" / "a").write_text("Host orin\n  User first\n")
    (ssh / "config.d" / "b").write_text("Host orin\n  User second\n  Port 2222\nInclude deeper\n")
    (ssh / "deeper").write_text("Compression yes\n")
    (ssh / "with space").write_text("ServerAliveInterval 7\n")
    (ssh / "config").write_text('Include config.d/* "with space" ~/.ssh/none # odd\nHost orin\n  Port 22\n')
    (ssh.parent / "system" / "ssh_config").write_text("Include system.d/*.conf\n")
    (ssh.parent / "system" / "system.d").mkdir()
    (ssh.parent / "system" / "system.d" / "x.conf").write_text("ConnectTimeout 9\n")
    found = options()
    assert (found["user"], port_of(found), found["compression"]) == ("first", 2222, "yes")
    assert (keepalive_s(found), connect_limit_s(found)) == (7, 9)


def test_after_an_included_file_the_section_goes_on(ssh: Path) -> None:
    (ssh / "inner").write_text("Host *\n  User anybody\n")
    (ssh / "config").write_text("Host orin\n  Include inner\n  Port 2222\n")
    assert port_of(options("orin")) == 2222
    assert port_of(options("other")) == 22


def test_a_file_that_includes_itself_ends(ssh: Path) -> None:
    (ssh / "config").write_text("Port 2222\nInclude config\n")
    assert port_of(options()) == 2222


@pytest.mark.parametrize("line", ["Port=2222", "  port = 2222", "PORT\t2222", 'Port "2222"'])
def test_a_line_may_be_written_in_every_way(ssh: Path, line: str) -> None:
    (ssh / "config").write_bytes(b"# odd \xff\n\n" + line.encode() + b"\n")
    assert port_of(options()) == 2222


def test_numbers_have_defaults_and_none_is_one(ssh: Path) -> None:
    assert (port_of({}), connect_limit_s({}), keepalive_s({})) == (22, 15, 15)
    assert connect_limit_s({"connecttimeout": "none"}) == 15
    assert keepalive_s({"serveraliveinterval": "0"}) == 15
    for odd in ("x", "-1", "", "1.5", "²"):
        with pytest.raises(UserError, match=r"^The port of the ssh_config is no number: "):
            port_of({"port": odd})


def test_file_names_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "a b").touch()
    for value, names in (
        ("a b", ["a", "b"]),
        (str(tmp_path / "a b"), [str(tmp_path / "a b")]),
        ('a" "b c', ["a", "b c"]),  # as paramiko hands on "a" "b c", without the outer quotes
        ('a "b c"', ["a", "b c"]),
        ("%h/%%", ["orin/%"]),
    ):
        assert file_names({"key": value}, "key", ["default"], {"%h": "orin", "%%": "%"}) == names, value
    assert file_names({}, "key", ["default"], {}) == ["default"]
    with pytest.raises(UserError, match=r"^The key of the ssh_config can't be read: "):
        file_names({"key": 'a "b'}, "key", [], {})

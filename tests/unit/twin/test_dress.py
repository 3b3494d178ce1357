"""What makes a tree a twin, on a tree of a few files."""

from __future__ import annotations

from pathlib import Path

import pytest

from twin.dress import MASKED, NOT_AT_BOOT, dress, make_keys

pytestmark = pytest.mark.root


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for folder in (
        "etc/apt",
        "etc/ssh/sshd_config.d",
        "etc/skel",
        "root",
        "home",
        "etc/systemd/system/sockets.target.wants",
    ):
        (root / folder).mkdir(parents=True)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
    (root / "etc/shadow").write_text("root:*:1:0:99999:7:::\n")
    (root / "etc/group").write_text("root:x:0:\nsudo:x:27:\n")
    (root / "etc/gshadow").write_text("root:*::\nsudo:*::\n")
    (root / "etc/login.defs").write_text("USERGROUPS_ENAB yes\n")
    (root / "etc/apt/sources.list").write_text("deb http://a.mirror.example/debian bookworm main\n")
    (root / "etc/ssh/ssh_host_rsa_key").write_text("another's")
    wants = root / "etc/systemd/system/sockets.target.wants"
    (wants / "rpcbind.socket").symlink_to("/lib/systemd/system/rpcbind.socket.that.is.not.here")
    (wants / "ssh.socket").symlink_to("/lib/systemd/system/ssh.socket.that.is.not.here")
    make_keys(tmp_path / "keys")
    dress(root, tmp_path / "keys")
    return root


def test_root_and_the_user_may_log_in_with_the_key(tree: Path) -> None:
    key = (tree.parent / "keys/id.pub").read_text()
    for home, owner in (("root", 0), ("home/jetson", 1000)):
        file = tree / home / ".ssh/authorized_keys"
        assert file.read_text() == key
        assert (file.stat().st_uid, file.stat().st_mode & 0o777) == (owner, 0o600)
        assert (file.parent.stat().st_uid, file.parent.stat().st_mode & 0o777) == (owner, 0o700)
    assert "jetson:x:1000:1000:" in (tree / "etc/passwd").read_text()
    assert "sudo:x:27:jetson" in (tree / "etc/group").read_text()
    assert (tree / "etc/sudoers.d/jetson").stat().st_mode & 0o777 == 0o440


def test_the_host_key_is_the_one_that_ssh_here_expects(tree: Path) -> None:
    private = tree / "etc/ssh/ssh_host_ed25519_key"
    assert private.read_bytes() == (tree.parent / "keys/host").read_bytes()
    assert private.stat().st_mode & 0o777 == 0o600
    assert not (tree / "etc/ssh/ssh_host_rsa_key").exists()


def test_no_mirror_is_named_and_nothing_runs_for_nobody(tree: Path) -> None:
    assert (tree / "etc/apt/sources.list").read_text() == ""
    units = tree / "etc/systemd/system"
    assert all((units / name).readlink() == Path("/dev/null") for name in MASKED)
    left = {path.name for path in units.glob("*.wants/*")} | {
        path.name for path in (units / "sockets.target.wants").iterdir()
    }
    assert not left & set(NOT_AT_BOOT)
    assert (units / "sockets.target.wants" / "ssh.socket").is_symlink()

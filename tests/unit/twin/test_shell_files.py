"""What is put on a machine, and the files that let ssh in."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from twin.shell import File, Link, Shell, pack


def test_files_are_packed_with_modes_owners_and_links() -> None:
    files = {
        "/etc/a": "text 한글\n",
        "/usr/sbin/b": File(b"\0\1", 0o755, 1000),
        "/etc/c": Link("/dev/null"),
    }
    with tarfile.open(fileobj=io.BytesIO(pack(files, 0o600))) as archive:
        a, b, c = archive.getmembers()
        content = archive.extractfile(a)
        assert content is not None
        assert content.read().decode() == "text 한글\n"
    assert (a.name, a.mode, a.uid) == ("etc/a", 0o600, 0)
    assert (b.name, b.mode, b.uid, b.gid, b.size) == ("usr/sbin/b", 0o755, 1000, 1000, 2)
    assert (c.name, c.issym(), c.linkname) == ("etc/c", True, "/dev/null")


def test_ssh_knows_the_machines_own_key_and_no_other(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / "id").write_text("PRIVATE")
    (keys / "host.pub").write_text("ssh-ed25519 AAAA twin\n")
    folder = tmp_path / "a machine"
    folder.mkdir()
    shell = Shell("127.0.0.1", 4711, keys, folder, tmp_path)
    assert shell.known_hosts.read_text() == "[127.0.0.1]:4711 ssh-ed25519 AAAA\n"
    assert shell.key.stat().st_mode & 0o777 == 0o600
    config = shell.config.read_text()
    assert f'IdentityFile "{folder}/id"' in config
    assert "StrictHostKeyChecking yes" in config
    words = shell.command(["printf", "%s\n", "two words", "$HOME"], "jetson")
    assert words[-1] == "printf '%s\n' 'two words' '$HOME'"
    assert words[words.index("-l") + 1] == "jetson"

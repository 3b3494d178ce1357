"""Who gets in, and what is said to who doesn't: keys, users, agents, passphrases."""

from __future__ import annotations

import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from rerig.errors import UserError
from rerig.hosts import Host, parse_destination
from rerig.remote.connection import open_connection
from rerig.remote.lost import Unreachable
from rerig.remote.shell import SshShell
from ssh_bed import SshBed, User

PASSPHRASE = "open" + "sesame"

pytestmark = pytest.mark.root


def whoami(word: str, key_file: Path | None = None) -> str:
    """The user and the machine that one gets to, as that machine says it."""
    host = parse_destination(word)
    if key_file:
        host = Host(host.name, host.destination, user=host.user, port=host.port, key_file=str(key_file))
    with closing(open_connection(host)) as connection:
        return " ".join(SshShell(connection).run(["sh", "-c", "id -un; hostname"]).stdout.decode().split())


def refusal(word: str) -> str:
    with pytest.raises(UserError) as caught:
        whoami(word)
    return str(caught.value)


def _unlocked(key: Path) -> Path:
    """The key without its passphrase, for an agent; ssh-add would ask for it."""
    copy = key.with_name("unlocked")
    copy.write_bytes(key.read_bytes())
    copy.chmod(0o600)
    argv = ["ssh-keygen", "-q", "-p", "-P", PASSPHRASE, "-N", "", "-f", str(copy)]
    subprocess.run(argv, check=True, capture_output=True)
    return copy


@pytest.fixture
def other_key(bed: SshBed) -> Path:
    """A key that no default setting finds."""
    (bed.home / "keys").mkdir()
    return bed.make_key("../keys/other")


def test_a_default_key_opens_a_machine_by_alias_and_by_address_and_port(bed: SshBed) -> None:
    host = bed.start("orin")
    assert whoami("orin") == "jetson orin"
    assert whoami(f"jetson@127.0.0.1:{host.port}") == "jetson orin"
    assert whoami("root@orin") == "root orin"


def test_the_users_name_here_is_the_name_there(bed: SshBed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "jetson")
    assert whoami(f"127.0.0.1:{bed.start().port}") == "jetson box"


def test_an_identity_file_of_ssh_config_is_used_and_the_default_ones_are_not(bed: SshBed, other_key: Path) -> None:
    host = bed.start("orin", users=[User("jetson", keys=[other_key.with_suffix(".pub")]), User("ubuntu")])
    bed.add_alias("mine", Port=host.port, User="jetson", IdentityFile="~/keys/other")
    bed.add_alias("theirs", Port=host.port, User="ubuntu", IdentityFile="~/keys/other")
    assert whoami("mine") == "jetson orin"
    assert "does not let ubuntu in with any key at hand" in refusal("theirs")


def test_the_inventorys_key_is_used(bed: SshBed, other_key: Path) -> None:
    host = bed.start(users=[User("jetson", keys=[other_key.with_suffix(".pub")])])
    assert whoami(f"jetson@127.0.0.1:{host.port}", other_key) == "jetson box"
    with pytest.raises(UserError, match=r"^The key .*/none can't be read\.$"):
        whoami(f"jetson@127.0.0.1:{host.port}", bed.home / "none")


@pytest.mark.parametrize("key_type", ["rsa", "ecdsa"])
def test_older_kinds_of_keys_work_on_both_sides(bed: SshBed, key_type: str) -> None:
    key = bed.make_key(f"id_{key_type}", key_type)
    bed.start(users=[User("jetson", keys=[key.with_suffix(".pub")])], host_key_types=[key_type])
    assert whoami("box") == "jetson box"


def test_keys_of_an_agent_work(bed: SshBed, other_key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bed.start(users=[User("jetson", keys=[other_key.with_suffix(".pub")])])
    assert "does not let jetson in" in refusal("box")
    monkeypatch.setenv("SSH_AUTH_SOCK", str(bed.ssh_agent(other_key)))
    assert whoami("box") == "jetson box"


def test_the_agent_that_ssh_config_names_is_the_one_that_is_asked(bed: SshBed, other_key: Path) -> None:
    host = bed.start(users=[User("jetson", keys=[other_key.with_suffix(".pub")])])
    bed.add_alias("named", Port=host.port, User="jetson", IdentityAgent=f'"{bed.ssh_agent(other_key)}"')
    assert whoami("named") == "jetson box"
    bed.add_alias("none", Port=host.port, User="jetson", IdentityAgent="none")
    assert "does not let jetson in" in refusal("none")


def test_an_agent_that_is_gone_is_passed_over(bed: SshBed, monkeypatch: pytest.MonkeyPatch) -> None:
    bed.start()
    monkeypatch.setenv("SSH_AUTH_SOCK", str(bed.home / "gone"))
    assert whoami("box") == "jetson box"


def test_a_key_with_a_passphrase_is_used_from_the_agent_and_else_named(
    bed: SshBed, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = bed.make_key("locked", passphrase=PASSPHRASE)
    host = bed.start(users=[User("jetson", keys=[key.with_suffix(".pub")])])
    bed.add_alias("box", Port=host.port, User="jetson", IdentityFile=key)
    said = refusal("box")
    assert said == (
        f"127.0.0.1 lets jetson in with no key at hand, and {key} needs a passphrase: hand it to the agent first "
        f"(ssh-add {key})."
    )
    monkeypatch.setenv("SSH_AUTH_SOCK", str(bed.ssh_agent(_unlocked(key))))
    assert whoami("box") == "jetson box"


def test_many_keys_in_the_agent_do_no_harm_where_one_is_named(
    bed: SshBed, other_key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sshd closes the connection after six failures."""
    others = [bed.make_key(f"work{number}") for number in range(8)]
    host = bed.start(users=[User("jetson", keys=[other_key.with_suffix(".pub")])])
    monkeypatch.setenv("SSH_AUTH_SOCK", str(bed.ssh_agent(*others, other_key)))
    assert refusal("box") == (
        "127.0.0.1 closed the connection after 6 keys: name the right one in ssh_config (IdentityFile, and "
        "IdentitiesOnly yes)."
    )
    public_half = other_key.with_suffix(".pub")
    bed.add_alias("named", Port=host.port, User="jetson", IdentityFile=public_half, IdentitiesOnly="yes")
    assert whoami("named") == "jetson box"


def test_a_user_who_is_not_let_in_is_told_what_to_do(bed: SshBed) -> None:
    bed.start()
    assert refusal("nobody-here@box") == (
        "127.0.0.1 does not let nobody-here in with any key at hand: check the user, and copy a key there "
        "(ssh-copy-id)."
    )


def test_without_any_key_the_way_to_one_is_told(bed: SshBed) -> None:
    bed.start()
    bed.key.unlink()
    assert refusal("box") == (
        "There is no key to log in to 127.0.0.1 with: make one (ssh-keygen) and copy it there (ssh-copy-id)."
    )


def test_a_file_that_is_no_key_is_named(bed: SshBed) -> None:
    host = bed.start()
    (bed.ssh / "odd").write_text("no key\n")
    bed.add_alias("odd", Port=host.port, IdentityFile=bed.ssh / "odd")
    assert refusal("odd") == f"The key {bed.ssh / 'odd'} for 127.0.0.1 can't be read, or is none."


def test_a_machine_that_wants_a_password_is_told_apart(bed: SshBed) -> None:
    bed.start(sshd_config="PubkeyAuthentication no\nPasswordAuthentication yes")
    assert refusal("box") == "127.0.0.1 takes no keys, only password, and rerig asks for no password."


def test_a_machine_that_wants_more_than_a_key_is_told_apart(bed: SshBed) -> None:
    bed.start(sshd_config="AuthenticationMethods publickey,password\nPasswordAuthentication yes")
    assert refusal("box") == "127.0.0.1 wants more than a key (password), which rerig can't give."


def test_a_login_that_is_refused_may_be_tried_again_on_a_machine_that_boots(bed: SshBed) -> None:
    bed.start()
    with pytest.raises(Unreachable):
        open_connection(parse_destination("nobody@box"))

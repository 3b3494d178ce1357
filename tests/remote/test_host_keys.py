"""Which machines are spoken to at all: those whose host key known_hosts has, on the whole way."""

from __future__ import annotations

import subprocess
from contextlib import closing

import pytest

from rerig.errors import UserError
from rerig.hosts import parse_destination
from rerig.remote.connection import open_connection
from rerig.remote.host_keys import fingerprint
from rerig.remote.lost import Unreachable
from rerig.remote.shell import SshShell
from ssh_bed import BedHost, SshBed, User

pytestmark = pytest.mark.root


def hostname(word: str = "box") -> str:
    with closing(open_connection(parse_destination(word))) as connection:
        return SshShell(connection).run(["hostname"]).stdout.decode().strip()


def refusal(word: str = "box") -> str:
    with pytest.raises(UserError) as caught:
        open_connection(parse_destination(word))
    assert not isinstance(caught.value, Unreachable), "another try would not help"
    return str(caught.value)


def shown_by(host: BedHost) -> str:
    """The fingerprint as ssh-keygen prints it."""
    file = host.folder / "ssh" / "bed_ed25519_key.pub"
    done = subprocess.run(["ssh-keygen", "-l", "-f", str(file)], capture_output=True, text=True, check=True)
    return done.stdout.split()[1]


def test_an_unknown_machine_is_refused_before_anything_is_sent_to_it(bed: SshBed) -> None:
    host = bed.start(known=False)
    assert refusal() == (
        f"The host key of [127.0.0.1]:{host.port} (ssh-ed25519 {shown_by(host)}) is not in known_hosts: compare the "
        "fingerprint with the machine's own, and connect once with ssh to store it."
    )
    assert "Accepted publickey" not in host.log()
    assert "publickey" not in host.log()
    assert bed.known_hosts.read_text() == ""


def test_what_the_sentence_says_helps(bed: SshBed) -> None:
    host = bed.start(known=False)
    refusal()
    argv = ["ssh", "-F", str(bed.config), "-o", "StrictHostKeyChecking=accept-new", "-i", str(bed.key)]
    argv += ["-o", f'UserKnownHostsFile="{bed.known_hosts}"', host.name, "true"]
    subprocess.run(argv, stdin=subprocess.DEVNULL, check=True, capture_output=True)
    assert hostname() == "box"
    host.swap_host_key()
    words = refusal()
    command = words[words.index("(ssh-keygen") + 1 :].partition(")")[0]
    assert command == f"ssh-keygen -R '[127.0.0.1]:{host.port}'"
    removal = ["ssh-keygen", "-f", str(bed.known_hosts), "-R", f"[127.0.0.1]:{host.port}"]
    subprocess.run(removal, check=True, capture_output=True)
    subprocess.run(argv, stdin=subprocess.DEVNULL, check=True, capture_output=True)
    assert hostname() == "box"


def test_a_machine_with_another_key_than_before_is_refused(bed: SshBed) -> None:
    host = bed.start()
    assert hostname() == "box"
    host.swap_host_key()
    logins = host.log().count("Accepted publickey")
    assert refusal() == (
        f"The host key of [127.0.0.1]:{host.port} has changed: it is now ssh-ed25519 {shown_by(host)}, and known_hosts "
        f"has another. If the machine was installed anew, remove the old one (ssh-keygen -R '[127.0.0.1]:{host.port}') "
        "and connect once with ssh; if not, someone else may be answering."
    )
    assert host.log().count("Accepted publickey") == logins


@pytest.mark.parametrize("value", ["no", "accept-new", "off"])
def test_no_setting_of_ssh_config_makes_that_softer(bed: SshBed, value: str) -> None:
    host = bed.start(known=False)
    bed.config.write_text(f"StrictHostKeyChecking {value}\nCheckHostIP no\n" + bed.config.read_text())
    assert "is not in known_hosts" in refusal()
    bed.know(host)
    host.swap_host_key()
    assert "has changed" in refusal()


def test_a_known_hosts_of_dev_null_knows_nothing(bed: SshBed) -> None:
    bed.start()
    bed.config.write_text("UserKnownHostsFile /dev/null\nStrictHostKeyChecking no\n" + bed.config.read_text())
    assert "is not in known_hosts" in refusal()


def test_a_hashed_known_hosts_is_read(bed: SshBed) -> None:
    host = bed.start()
    subprocess.run(["ssh-keygen", "-H", "-f", str(bed.known_hosts)], check=True, capture_output=True)
    assert "127.0.0.1" not in bed.known_hosts.read_text()
    assert hostname() == "box"
    host.swap_host_key()
    assert "has changed" in refusal()


def test_a_key_is_found_by_alias_in_a_file_of_ssh_config(bed: SshBed) -> None:
    host = bed.start(known=False)
    other = bed.ssh / "known of orin-board"
    other.write_text(f"orin-board {host.public_host_keys()[0]}\n")
    bed.add_alias("box", Port=host.port, User="jetson", HostKeyAlias="orin-board", UserKnownHostsFile=f'"{other}"')
    assert hostname() == "box"
    bed.add_alias(
        "box", Port=host.port, User="jetson", HostKeyAlias="orin-board", UserKnownHostsFile='"~/.ssh/known of %k"'
    )
    assert hostname() == "box"
    bed.add_alias("box", Port=host.port, User="jetson", HostKeyAlias="another", UserKnownHostsFile=f'"{other}"')
    assert "The host key of another (" in refusal()


def test_a_key_is_found_in_the_systems_file(bed: SshBed) -> None:
    host = bed.start(known=False)
    bed.know(host)
    bed.known_hosts.rename(bed.home / "system wide")
    bed.config.write_text('GlobalKnownHostsFile "~/system wide"\n' + bed.config.read_text())
    assert hostname() == "box"


def test_the_key_of_the_plain_address_vouches_for_any_port(bed: SshBed) -> None:
    host = bed.start(known=False)
    bed.know(host, "127.0.0.1")
    assert hostname() == "box"
    host.swap_host_key()
    assert "is not in known_hosts" in refusal()


def test_a_revoked_key_is_refused_even_if_it_is_known(bed: SshBed) -> None:
    host = bed.start()
    with bed.known_hosts.open("a") as file:
        file.write(f"@revoked * {host.public_host_keys()[0]}\n")
    assert "is marked @revoked in known_hosts" in refusal()


def test_of_several_host_keys_the_known_one_is_asked_for(bed: SshBed) -> None:
    host = bed.start(known=False, host_key_types=["ed25519", "ecdsa", "rsa"])
    keys = host.public_host_keys()
    assert len(keys) == 3
    for key in keys:
        bed.known_hosts.write_text(f"[127.0.0.1]:{host.port} {key}\n")
        assert hostname() == "box", key


def test_the_fingerprint_is_that_of_ssh_keygen(bed: SshBed) -> None:
    import base64

    host = bed.start()
    assert fingerprint(base64.b64decode(host.public_host_keys()[0].split()[1])) == shown_by(host)


def test_a_jump_host_is_gone_through_and_its_key_is_checked_as_well(bed: SshBed) -> None:
    jump = bed.start("jump", users=[User("bastion")])
    box = bed.start("box")
    bed.add_alias("behind", Port=box.port, User="jetson", ProxyJump="jump")
    assert hostname("behind") == "box"
    assert "Accepted publickey for bastion" in jump.log()
    jump.swap_host_key()
    assert f"The host key of [127.0.0.1]:{jump.port} has changed" in refusal("behind")
    assert jump.log().count("Accepted publickey") == 1


def test_behind_a_jump_host_the_key_is_checked_all_the_same(bed: SshBed) -> None:
    bed.start("jump")
    box = bed.start("box")
    bed.add_alias("behind", Port=box.port, User="jetson", ProxyJump="jump")
    box.swap_host_key()
    assert f"The host key of [127.0.0.1]:{box.port} has changed" in refusal("behind")


def test_a_chain_of_jump_hosts_with_users_and_ports_is_gone_through(bed: SshBed) -> None:
    first = bed.start("first", users=[User("one")])
    second = bed.start("second", users=[User("two")])
    box = bed.start("box")
    bed.add_alias(
        "behind",
        Port=box.port,
        User="jetson",
        ProxyJump=f"ssh://one@127.0.0.1:{first.port},two@127.0.0.1:{second.port}",
    )
    assert hostname("behind") == "box"
    assert "Accepted publickey for one" in first.log()
    assert "Accepted publickey for two" in second.log()
    second.swap_host_key()
    assert f"The host key of [127.0.0.1]:{second.port} has changed" in refusal("behind")


def test_a_proxy_jump_for_all_hosts_spares_the_jump_host_itself(bed: SshBed) -> None:
    jump = bed.start("jump")
    bed.start("box")
    bed.config.write_text(bed.config.read_text() + "Host *\n  ProxyJump jump\n")
    assert hostname("box") == "box"
    assert hostname("jump") == "jump"
    assert jump.log().count("Accepted publickey") == 2


def test_a_proxy_command_is_gone_through_and_the_key_behind_it_checked(bed: SshBed) -> None:
    jump, box = bed.start("jump"), bed.start("box")
    words = f"ssh -F {_quoted(bed.config)} -i {_quoted(bed.key)} -o BatchMode=yes"
    known = f'UserKnownHostsFile="{bed.known_hosts}"'
    words += f" -o {_quoted(known)} -W %h:%p jump"
    bed.add_alias("behind", Port=box.port, User="jetson", ProxyCommand=words)
    assert hostname("behind") == "box"
    assert "Accepted publickey" in jump.log()
    box.swap_host_key()
    assert "has changed" in refusal("behind")


def _quoted(word: object) -> str:
    return f"'{word}'"


def test_a_machine_that_the_jump_host_can_not_reach_is_told_with_both_names(bed: SshBed) -> None:
    bed.start("jump")
    box = bed.start("box")
    bed.add_alias("behind", Port=box.port, User="jetson", ProxyJump="jump")
    box.kill_sshd()
    with pytest.raises(Unreachable, match=rf"^127\.0\.0\.1 can't reach 127\.0\.0\.1 port {box.port}: .*\.$"):
        open_connection(parse_destination("behind"))


def test_jumps_in_a_circle_end(bed: SshBed) -> None:
    bed.add_alias("one", Port=2201, ProxyJump="two")
    bed.add_alias("two", Port=2202, ProxyJump="one")
    assert refusal("one").endswith(" through too many machines.")

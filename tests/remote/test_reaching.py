"""What is said when no connection comes about at all."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from rerig.errors import UserError
from rerig.hosts import parse_destination
from rerig.remote.connection import open_connection
from rerig.remote.lost import Unreachable
from ssh_bed import SshBed

pytestmark = pytest.mark.root


def refusal(word: str, kind: type[UserError] = Unreachable) -> str:
    with pytest.raises(kind) as caught:
        open_connection(parse_destination(word))
    return str(caught.value)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_a_closed_port_is_told(bed: SshBed) -> None:
    host = bed.start()
    host.kill_sshd()
    assert refusal("box") == (f"Nothing answers at 127.0.0.1 port {host.port}: is it on, and is sshd running there?")
    host.restart_sshd()
    open_connection(parse_destination("box")).close()


def test_a_name_that_nobody_knows_is_told(bed: SshBed) -> None:
    assert refusal("box.invalid") == (
        "The name box.invalid is not known: check it, or give it an address in ssh_config."
    )


def test_a_machine_that_says_nothing_is_given_up(bed: SshBed, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    bed.add_alias("mute", Port=port, ConnectTimeout=1)
    said = refusal("mute")
    assert said.startswith(f"127.0.0.1 port {port} answers, but no ssh connection comes about"), said


def test_what_is_no_ssh_is_told(bed: SshBed, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    bed.add_alias("web", Port=port)

    def serve() -> None:
        client, _ = listener.accept()
        with client:
            client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n\x1b[2J")

    thread = threading.Thread(target=serve)
    thread.start()
    said = refusal("web")
    thread.join()
    assert said.startswith(f"127.0.0.1 port {port} answers, but no ssh connection comes about"), said
    assert said.isprintable()


def test_a_frozen_sshd_is_given_up(bed: SshBed) -> None:
    host = bed.start()
    bed.add_alias("frozen", Port=host.port, ConnectTimeout=1)
    bed.know(host)
    host.freeze()
    assert "answers, but no ssh connection comes about" in refusal("frozen")
    host.thaw()
    open_connection(parse_destination("jetson@frozen")).close()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Port twenty-two", "The port of the ssh_config is no number: twenty-two."),
        ("Host", "The ssh_config can't be read: Unparsable line Host."),
        ('Host "box', "The ssh_config can't be read: Unparsable host \"box."),
        ("ProxyCommand 'nc", "The ProxyCommand can't be read: 'nc."),
        ("ProxyCommand /none/nc %h", "The ProxyCommand can't be started: /none/nc: No such file or directory."),
        ("ProxyJump -oProxyCommand=x", "--host '-oProxyCommand=x' is no host: it must look like user@box or box:22."),
    ],
)
def test_an_ssh_config_that_is_none_is_told(bed: SshBed, text: str, sentence: str) -> None:
    bed.config.write_text(text + "\n")
    assert refusal("box", UserError) == sentence

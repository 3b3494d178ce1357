"""Opening a connection as the user's ssh_config says, to a machine whose host key is known, hops included."""

from __future__ import annotations

import getpass
import logging
import socket
from typing import TYPE_CHECKING, Any

from rerig.errors import UserError
from rerig.hosts import Host, parse_destination
from rerig.remote.host_keys import KnownKeys, find_known_keys
from rerig.remote.login import LIMIT_S as LOGIN_LIMIT_S
from rerig.remote.login import login_of
from rerig.remote.lost import Unreachable
from rerig.remote.ssh_config import connect_limit_s, keepalive_s, port_of, read_ssh_config
from rerig.remote.tunnel import Tunnel, by_command, through
from rerig.text import bounded, printable

if TYPE_CHECKING:
    from fabric import Connection
    from paramiko import Transport
    from paramiko.config import SSHConfig

MOST_HOPS = 8
LONGEST_REASON = 200


def open_connection(host: Host) -> Connection:
    """An open connection to ``host``; its close() closes the hops as well.

    Every machine on the way must show a host key that known_hosts has, whatever StrictHostKeyChecking says. Raises
    UserError; Unreachable, which is one, where another try may help.
    """
    # paramiko's threads speak to this logger; unheard, Python would print their tracebacks.
    logging.getLogger("paramiko").addHandler(logging.NullHandler())
    return _open(host, read_ssh_config(), None, 0)


def _open(host: Host, ssh_config: SSHConfig, way: Tunnel | None, depth: int) -> Connection:
    try:
        options = _look_up(ssh_config, host)
        address = str(options["hostname"])
        port = host.port or port_of(options)
        known = find_known_keys(options, address, port)
        if way is None:
            way = _way(host, options, address, port, ssh_config, depth)
        connection = _prepare(host, ssh_config, options, known, way)
        try:
            _connect(connection, host, address, port)
            connection.transport.set_keepalive(keepalive_s(options))
        except BaseException:
            connection.client.close()
            raise
    except BaseException:
        if way:
            way.close()
        raise
    return connection


def _look_up(ssh_config: SSHConfig, host: Host) -> Any:
    from paramiko.ssh_exception import SSHException

    try:
        return ssh_config.lookup(host.destination)
    except (SSHException, KeyError, ValueError) as error:
        raise UserError(f"The ssh_config says nothing sound about {printable(host.destination)}: {error}.") from None


def _way(host: Host, options: Any, address: str, port: int, ssh_config: SSHConfig, depth: int) -> Tunnel | None:
    """What leads to the machine, if it is not the network itself. ProxyJump's first machine comes first."""
    jump = options.get("proxyjump") or "none"
    if jump.lower() == "none":
        command = options.get("proxycommand")
        return by_command(command, address, port, _user(host, options)) if command else None
    hops = [parse_destination(hop.strip().removeprefix("ssh://")) for hop in jump.split(",")]
    if hops[-1].destination == host.destination or _end_of_hop(hops[-1], ssh_config) == (address, port):
        return None  # "Host *" with a ProxyJump means the jump host too
    if depth + len(hops) > MOST_HOPS:
        raise UserError(f"ProxyJump leads to {printable(host.destination)} through too many machines.")
    way: Tunnel | None = None
    for number, hop in enumerate(hops):
        following = _end_of_hop(hops[number + 1], ssh_config) if number + 1 < len(hops) else (address, port)
        way = through(_open(hop, ssh_config, way, depth + 1), *following, connect_limit_s(options))
    return way


def _end_of_hop(hop: Host, ssh_config: SSHConfig) -> tuple[str, int]:
    options = _look_up(ssh_config, hop)
    return str(options["hostname"]), hop.port or port_of(options)


def _user(host: Host, options: Any) -> str:
    return host.user or options.get("user") or getpass.getuser()


def _prepare(host: Host, ssh_config: SSHConfig, options: Any, known: KnownKeys, way: Tunnel | None) -> Connection:
    from fabric import Config, Connection

    limit_s = connect_limit_s(options)
    connection = Connection(
        host.destination,
        user=_user(host, options),
        port=host.port or port_of(options),
        config=Config(lazy=True, ssh_config=ssh_config),
        gateway=False,
        forward_agent=False,
        connect_timeout=limit_s,
    )
    connection.client.set_missing_host_key_policy(known)
    connection.connect_kwargs = {
        "auth_strategy": login_of(str(options["hostname"]), connection.user, host.key_file, options),
        "banner_timeout": limit_s,
        "auth_timeout": LOGIN_LIMIT_S,
        "transport_factory": _transport_factory(known),
        **({"sock": way} if way else {}),
    }
    return connection


def _transport_factory(known: KnownKeys) -> Any:
    def make(sock: Any, **options: Any) -> Transport:
        from paramiko import Transport

        transport = Transport(sock, **options)
        security = transport.get_security_options()
        first = [name for name in known.key_types() if name in security.key_types]
        security.key_types = first + [name for name in security.key_types if name not in first]
        return transport

    return make


def _connect(connection: Connection, host: Host, address: str, port: int) -> None:
    from paramiko.ssh_exception import NoValidConnectionsError, SSHException

    name = printable(address)
    try:
        connection.open()
    except NoValidConnectionsError:
        raise Unreachable(f"Nothing answers at {name} port {port}: is it on, and is sshd running there?") from None
    except socket.gaierror:
        raise Unreachable(f"The name {name} is not known: check it, or give it an address in ssh_config.") from None
    except TimeoutError:
        raise Unreachable(f"{name} port {port} does not answer.") from None
    except OSError as error:
        raise Unreachable(f"{name} port {port} can't be reached: {error.strerror or error}.") from None
    except (EOFError, SSHException) as error:
        raise Unreachable(f"{name} port {port} answers, but no ssh connection comes about{_said(error)}.") from None


def _said(error: BaseException) -> str:
    text = bounded(printable(str(error)), LONGEST_REASON).rstrip(".")
    return f": {text}" if text else ""

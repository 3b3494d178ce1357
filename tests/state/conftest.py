"""How the checks reach a machine, what they see of it, and what is reported of them.

    pytest tests/state --hosts=ansible://orin --ansible-inventory=inventory/mylab
    pytest tests/state --hosts=ssh://jetson@box

A machine is looked at once. No host, a skipped check and an unknown host key are never a success.
"""

from __future__ import annotations

import json
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
import testinfra
from testinfra.backend.local import LocalBackend
from testinfra.backend.ssh import SshBackend
from testinfra.host import Host

from rerig.desired import REACH, THIS_MACHINE, desired_values
from rerig.errors import UserError
from rerig.verify_checks import Check, CheckFailed, Look
from rerig.verify_probe import SSH_FAILED, probe_words, read_look, unreachable

HOSTS = pytest.StashKey[list[Host]]()
TOLD = pytest.StashKey[dict[str, dict[str, Any]]]()
FILLED = pytest.StashKey[dict[str, dict[str, Any]]]()
CHECK = pytest.StashKey[Check]()
# testinfra's other ways either accept unknown host keys (paramiko, which it takes by default) or were never tried here.
WAYS = ("local", "ssh", "safe-ssh", "ansible")
# They come first, and the first word on an option counts for ssh.
STRICT = "-o BatchMode=yes -o StrictHostKeyChecking=yes -o VerifyHostKeyDNS=no -o UpdateHostKeys=no"
STEADY = "-o ServerAliveInterval=15 -o ServerAliveCountMax=4"
LONGEST_FOLDER = 45  # a socket's path has at most 107 bytes, and ssh adds 58


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rerig")
    group.addoption("--rerig-report", metavar="FILE", help="write what was found as JSON")
    group.addoption("--rerig-desired", metavar="FILE", help="what the host is to be like, as JSON (default: rendered)")


def pytest_configure(config: pytest.Config) -> None:
    """Wrong words end it here; testinfra itself takes an unknown host for no test at all, and that for a success."""
    config.stash[TOLD], config.stash[FILLED] = {}, {}
    config.stash[HOSTS] = _hosts(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "host" in metafunc.fixturenames:
        hosts = metafunc.config.stash[HOSTS]
        names = [host.backend.get_pytest_id() for host in hosts]
        metafunc.parametrize("host", hosts, ids=names, scope="session", indirect=True)


def _hosts(config: pytest.Config) -> list[Host]:
    words = [word for word in (config.option.hosts or "local://").split(",") if word]
    for word in words:
        way = word.partition("://")[0] if "://" in word else config.option.connection
        if way not in WAYS:
            raise pytest.UsageError(f"{word}: give a host as ssh://user@box, ansible://name or local://.")
    names = ("connection", "ssh_config", "ssh_identity_file", "sudo", "sudo_user", "ansible_inventory", "force_ansible")
    try:
        hosts = testinfra.get_hosts(words, **{name: getattr(config.option, name) for name in names})
    except (RuntimeError, AssertionError, ValueError) as error:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise pytest.UsageError(f"The hosts can't be found: {first}") from error
    if not hosts:
        raise pytest.UsageError(f"There is no host {','.join(words)}.")
    return list(hosts)


@pytest.fixture(scope="session")
def sockets() -> Iterator[Path | None]:
    """A folder for ssh's sockets, so that all of a machine's checks share one connection."""
    folder = Path(tempfile.mkdtemp(prefix="rerig-", dir=None if len(tempfile.gettempdir()) < 30 else "/tmp"))  # noqa: S108 - mkdtemp makes it our own
    yield folder if len(str(folder)) <= LONGEST_FOLDER else None
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def host(request: pytest.FixtureRequest, sockets: Path | None) -> Host:
    """testinfra's host, whose ssh accepts no unknown key and asks nobody anything."""
    found: Host = request.param
    backend: Any = found.backend
    if backend.get_connection_type() == "ansible":
        inner = None
        if not backend.force_ansible:
            values = _values(found, request.config)
            known = backend.ansible_runner.inventory["_meta"].setdefault("hostvars", {}).setdefault(backend.host, {})
            known.update({name: values[name] for name in REACH if name in values})
            if "ansible_become" in known:  # any text is true to testinfra
                known["ansible_become"] = str(known["ansible_become"]).lower() in ("true", "yes", "on", "1")
            inner = backend.ansible_runner.get_host(
                backend.host, ssh_config=backend.ssh_config, ssh_identity_file=backend.ssh_identity_file
            )
        backend = inner.backend if inner else None
    if isinstance(backend, SshBackend):
        _hold_to_known_keys(backend, sockets)
    elif not isinstance(backend, LocalBackend):
        _give_up(found, request.config, "It can be looked at over ssh or as this machine, by no other connection.")
    return found


def _give_up(host: Host, config: pytest.Config, sentence: str) -> NoReturn:
    """Nothing can be said of this machine."""
    config.stash[TOLD].setdefault(host.backend.get_pytest_id(), _nothing())["problem"] = sentence
    pytest.fail(sentence, pytrace=False)


def _hold_to_known_keys(backend: SshBackend, sockets: Path | None) -> None:
    shared = "-o ControlMaster=no"
    if sockets:
        path = shlex.quote(f"ControlPath={sockets}/%C")
        shared = f"-o ControlMaster=auto -o ControlPersist=5s -o {path}"
    if not (backend.ssh_extra_args or "").startswith(STRICT):
        backend.ssh_extra_args = f"{STRICT} {STEADY} {shared} {backend.ssh_extra_args or ''}".strip()
    backend.host.password = None  # sshpass would show it to everybody


@pytest.fixture(scope="session")
def desired(host: Host, pytestconfig: pytest.Config) -> dict[str, Any]:
    """What the machine is to be like: {variable of a role: value}."""
    return _values(host, pytestconfig)


def _values(host: Host, config: pytest.Config) -> dict[str, Any]:
    """The values, filled in once for each host."""
    filled = config.stash[FILLED]
    name = host.backend.get_pytest_id()
    if name not in filled:
        try:
            filled[name] = _fill_in(host, config)
        except UserError as error:
            _give_up(host, config, str(error))
    return filled[name]


def _fill_in(host: Host, config: pytest.Config) -> dict[str, Any]:
    if path := config.option.rerig_desired:
        values: dict[str, Any] = json.loads(Path(path).read_text("utf-8"))
        return values
    if host.backend.get_connection_type() == "ansible":
        return desired_values(config.option.ansible_inventory, host.backend.get_hostname())
    return desired_values(f"{THIS_MACHINE},", THIS_MACHINE)


@pytest.fixture(scope="session")
def look(host: Host, desired: dict[str, Any], pytestconfig: pytest.Config) -> Look:
    """All that is known of the machine, in one round trip."""
    try:
        seen = Look.of(_look(host, desired))
    except UserError as error:
        _give_up(host, pytestconfig, str(error))
    pytestconfig.stash[TOLD].setdefault(host.backend.get_pytest_id(), _nothing())["look"] = seen
    return seen


def _look(host: Host, desired: dict[str, Any]) -> dict[str, Any]:
    words = probe_words(desired["ansible_python_interpreter"] or "python3", desired["board_state_root"])
    try:
        done = host.run(" ".join(["%s"] * len(words)), *words)
    except RuntimeError as error:  # testinfra's for ssh's own failures
        (failed,) = error.args
        raise UserError(unreachable(failed.stderr)) from error
    if done.rc == SSH_FAILED and "ssh" in done.stderr:
        raise UserError(unreachable(done.stderr))
    return read_look(done.rc, done.stdout, done.stderr)


def _nothing() -> dict[str, Any]:
    return {"problem": None, "look": None, "checks": []}


@pytest.fixture
def check(request: pytest.FixtureRequest) -> Check:
    """What a check tells of itself."""
    group = Path(str(request.path)).stem.removeprefix("test_")
    told = Check(group, request.function.__name__.removeprefix("test_").replace("_", " "))
    request.node.stash[CHECK] = told
    return told


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report: pytest.TestReport = yield
    told = item.stash.get(CHECK, None)
    params = getattr(item, "callspec", None)
    if params is None or (call.when != "call" and report.passed):
        return report
    name = params.params["host"].backend.get_pytest_id()
    entry = item.config.stash[TOLD].setdefault(name, _nothing())
    found = told or Check(Path(str(item.path)).stem.removeprefix("test_"), item.name.partition("[")[0])
    if report.skipped:
        found.end("skipped", str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else "It was skipped.")
    elif report.failed:
        judged = call.excinfo is not None and isinstance(call.excinfo.value, CheckFailed)
        found.end("failed", found.sentence if judged else _words(call, report))
        if judged:
            report.longrepr = found.sentence
    else:
        found.end("warning" if found.warnings else "ok", "")
    if entry["problem"] is None:
        entry["checks"].append(found.as_json())
    return report


def _words(call: pytest.CallInfo[None], report: pytest.TestReport) -> str:
    """One line about a check that broke instead of judging."""
    text = str(call.excinfo.value) if call.excinfo else report.longreprtext
    return f"The check itself failed: {next(iter(text.splitlines()), 'no word')[:200].rstrip('.')}."


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A check that was skipped proves nothing."""
    hosts = session.config.stash[TOLD]
    skipped = any(one["status"] == "skipped" for entry in hosts.values() for one in entry["checks"])
    if skipped and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if path := session.config.option.rerig_report:
        told = [
            {"name": name, **entry, "look": entry["look"] and entry["look"].as_json()} for name, entry in hosts.items()
        ]
        Path(path).write_text(json.dumps({"hosts": told}), "utf-8")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """For who runs pytest by hand: the cause, and what only warns."""
    for name, entry in config.stash[TOLD].items():
        seen: Look | None = entry["look"]
        lines = [warning for one in entry["checks"] for warning in one["warnings"]]
        terminalreporter.write_line(f"{name}: {seen.cause if seen else entry['problem']}")
        for line in lines:
            terminalreporter.write_line(f"  warning: {line}")

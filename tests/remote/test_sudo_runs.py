"""Whole runs as root on other machines: ``--sudo`` with and without a password that is asked once for all."""

from __future__ import annotations

import os
import pty
import select
from pathlib import Path

import pytest

from remote_runs import MEASURED, RemoteRuns, statuses
from ssh_bed import BedHost, SshBed, User

pytestmark = [pytest.mark.root, pytest.mark.slow]

USER = "kwakuquokka"
SECRET = "wombat 한글 " + "$HOME'"
LIMIT_S = 300


def typed(runs: RemoteRuns, answer: str, *words: str) -> tuple[int, str]:
    """Run on a terminal of its own and answer the first question; the exit status and all that was shown."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(runs.cli.directory)
        argv = runs.cli.argv(*words)
        os.execve(argv[0], argv, runs.cli.environment)  # noqa: S606 - no shell is what is wanted
    shown, answered = b"", False
    while select.select([terminal], [], [], LIMIT_S)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the child has closed it
            break
        shown += data
        if b"sudo password on" in shown and not answered:
            answered = True
            os.write(terminal, answer.encode() + b"\n")
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode("utf-8", "replace")


def owned_by_root(host: BedHost) -> str:
    return host.run(["find", "/home", "-user", "root", "-path", f"/home/{USER}/*"]).decode()


def test_a_run_as_root_without_a_password(bed: SshBed, tmp_path: Path) -> None:
    host, runs = bed.start("box", users=[User(USER, sudo="nopasswd")]), RemoteRuns(bed, tmp_path)
    runs.rerun(f"{USER}@box", more=("--sudo",))
    assert statuses(runs.document()) == MEASURED
    assert runs.ids()[0] in host.run(["ls", "/root/.local/state/rerig/runs"]).decode()
    assert owned_by_root(host) == ""
    runs.cli.run("runs.clean", runs.ids()[0])
    assert host.run(["ls", "/root/.local/state/rerig/runs"]) == b""


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # forkpty beside other tests' threads: the child execs at once
def test_a_password_is_asked_once_for_two_machines_and_kept_nowhere(bed: SshBed, tmp_path: Path) -> None:
    hosts = [bed.start(name, users=[User(USER, sudo="password", password=SECRET)]) for name in ("one", "two")]
    runs = RemoteRuns(bed, tmp_path)
    status, shown = typed(runs, SECRET, *runs.words(f"{USER}@one", f"{USER}@two", more=("--sudo", "--quiet")))
    assert status == 0, shown
    assert shown.count("sudo password on") == 1
    assert "wombat" not in shown
    for name, host in zip(("one", "two"), hosts, strict=True):
        assert statuses(runs.document(f"{USER}@{name}")) == MEASURED
        assert owned_by_root(host) == ""
    holding = [path for path in tmp_path.rglob("*") if path.is_file() and b"wombat" in path.read_bytes()]
    # The bed itself has to know it, to give it to its users.
    assert [path for path in holding if path.name != "machine.json"] == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # as above
def test_a_wrong_password_is_one_sentence_and_nothing_is_measured(bed: SshBed, tmp_path: Path) -> None:
    bed.start("box", users=[User(USER, sudo="password", password=SECRET)])
    runs = RemoteRuns(bed, tmp_path)
    status, shown = typed(runs, "wrong", *runs.words(f"{USER}@box", more=("--sudo", "--quiet")))
    assert status == 1
    assert "refuses" in shown.splitlines()[-1]
    assert runs.ids() == []

"""Machines that are odd in some way: what is measured there is the same document, or one sentence says why not."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from remote_runs import MEASURED, RemoteRuns, statuses
from same_document import sessions, timeless
from ssh_bed import BedHost, SshBed, User
from ssh_bed.tools import LOCALE

pytestmark = [pytest.mark.root, pytest.mark.slow]

USER = "kwakuquokka"
UID = 2001
HOME = f"/home/{USER}"
TMP, VAR_TMP = "/tmp", "/var/tmp"  # noqa: S108 - those of the machines
MIB = 2**20
START_FILES = (".bashrc", ".profile", ".bash_profile")


@dataclass(frozen=True)
class Odd:
    """A machine, and what its user's shells read when they start."""

    settings: dict[str, Any] = field(default_factory=dict)
    home: str = HOME
    login_shell: str = "/bin/bash"
    start_file: str = ""

    def start(self, bed: SshBed, name: str) -> BedHost:
        """Let it boot."""
        host = bed.start(name, users=[User(USER, home=self.home, login_shell=self.login_shell)], **self.settings)
        for file in START_FILES if self.start_file else ():
            host.path(f"{self.home}/{file}").write_text(self.start_file, "utf-8")
        return host


# 3.6 by its own words; nothing else of it is called.
OLD_PYTHON = "#!/bin/sh\nsed '1s/.*/import sys; sys.version_info = (3, 6, 9)/' | exec /usr/bin/python3 -I -S -\n"
HARMLESS = {
    "plain": Odd(),
    "hour-ahead": Odd({"faketime": "+1h"}),
    "hour-behind": Odd({"faketime": "-1h"}),
    "german": Odd({"locale": LOCALE}),
    "german-profile": Odd(start_file=f"export LANG={LOCALE} LC_ALL={LOCALE} LANGUAGE=de\n"),
    "spaced-home": Odd(home="/home/wombat's nest/quokka (old) 한글"),
    "readonly-home": Odd({"readonly_home": True}),
    "noexec-tmp": Odd({"noexec_tmp": True, "readonly_home": True}),
    "no-home": Odd(home="/nowhere/quokka"),
    "full-home": Odd({"disks": {HOME: 8 * MIB}}),
    "noisy": Odd(start_file="echo 'Welcome!'; echo 'last login: never' >&2; printf 'no newline'\n"),
    "flood": Odd(start_file="yes | head -c 3000000\n"),
    "elsewhere": Odd(start_file="cd /; set -u; export PYTHONPATH=/srv PYTHONHOME=/srv TMPDIR=/nowhere COLUMNS=1\n"),
    "dash": Odd(login_shell="/bin/sh"),
    "private-umask": Odd(start_file="umask 077\n"),
    "open-umask": Odd(start_file="umask 000\n"),
}
LACKING = {
    "no-fio": (Odd({"without": ["/usr/bin/fio"]}), ["rand-64k-qd1.t1"]),
    "no-dd": (Odd({"without": ["/usr/bin/dd"]}), ["dd-1m.t1", "reread-4m.t1"]),
}
HOPELESS = {
    "no-python": (
        Odd({"without": ["/usr/bin/python3"]}),
        "There is no python3 on the machine: install Python 3.8 or newer there, or name it "
        "(ansible_python_interpreter in an inventory).",
    ),
    "old-python": (
        Odd({"programs": {"python3": OLD_PYTHON}}),
        "Python 3.8 or newer is needed on the machine, and python3 there is 3.6: install a newer one beside it and "
        "name it (ansible_python_interpreter in an inventory).",
    ),
    "nologin": (
        Odd(login_shell="/usr/sbin/nologin"),
        "python3 on the machine gave no answer (status 1): This account is currently not available.",
    ),
    "no-shell": (Odd(login_shell="/bin/false"), "python3 on the machine gave no answer (status 1): no word."),
    "goodbye": (
        Odd(start_file="echo This account is closed.; exit 0\n"),
        "python3 on the machine gave no answer (status 0): This account is closed.",
    ),
    "no-place": (
        Odd({"readonly_home": True, "disks": {TMP: 2 * MIB, VAR_TMP: 2 * MIB}}),
        f"There is no place for rerig on the machine ({HOME}/.local/state/rerig: Read-only file system; "
        f"{VAR_TMP}/rerig-{UID}: only 0 MiB are free there; {TMP}/rerig-{UID}: only 0 MiB are free there).",
    ),
}


@dataclass
class Several:
    """Many odd machines, measured side by side by one command."""

    hosts: dict[str, BedHost]
    runs: RemoteRuns
    done: subprocess.CompletedProcess[str]

    def document(self, name: str) -> dict[str, Any]:
        assert self.runs.ids(f"{USER}@{name}"), self.done.stderr
        return self.runs.document(f"{USER}@{name}")


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory, ssh_tools: Path) -> Iterator[Several]:
    folder = tmp_path_factory.mktemp("odd")
    odd = {**HARMLESS, **{name: machine for name, (machine, _) in [*LACKING.items(), *HOPELESS.items()]}}
    with SshBed(folder, ssh_tools) as bed:
        hosts = {name: machine.start(bed, name) for name, machine in odd.items()}
        runs = RemoteRuns(bed, folder)
        yield Several(hosts, runs, runs.rerun(*(f"{USER}@{name}" for name in hosts), status=1))


@pytest.mark.parametrize("name", HARMLESS)
def test_an_odd_machine_gives_the_same_document(several: Several, name: str) -> None:
    plain, odd = several.document("plain"), several.document(name)
    if name == "noexec-tmp":
        odd["targets"][0]["file_system"]["options"].remove("noexec")
    if name == "full-home":
        assert list(several.hosts[name].path(VAR_TMP).iterdir())
    assert statuses(odd) == MEASURED
    assert sessions(odd) == [None]
    assert timeless(odd) == timeless(plain)


@pytest.mark.parametrize("name", LACKING)
def test_a_missing_tool_costs_its_own_cases_alone(several: Several, name: str) -> None:
    lacking = LACKING[name][1]
    found = statuses(several.document(name))
    assert found == {case: "skipped" if case in lacking else "measured" for case in MEASURED}


@pytest.mark.parametrize("name", HOPELESS)
def test_a_machine_that_can_not_measure_is_told_in_one_sentence(several: Several, name: str) -> None:
    lines = [line for line in several.done.stderr.splitlines() if line.startswith(f"{USER}@{name}: ")]
    assert lines == [f"{USER}@{name}: {HOPELESS[name][1]}"]
    assert several.runs.ids(f"{USER}@{name}") == []


def test_the_machines_that_can_not_measure_are_all_that_is_complained_of(several: Several) -> None:
    assert {line.partition(": ")[0] for line in several.done.stderr.splitlines()} == {
        f"{USER}@{name}" for name in HOPELESS
    }


@pytest.mark.parametrize("name", [*HARMLESS, *LACKING, *HOPELESS])
def test_nothing_is_left_on_a_machine_but_the_run(several: Several, name: str) -> None:
    host = several.hosts[name]
    assert [words for words in host.processes() if not words[0].startswith("sshd: /usr/sbin/sshd")] == []
    left = host.run(["find", "/home", TMP, VAR_TMP, "/root", "-type", "f"]).decode().splitlines()
    assert [path for path in left if "/rerig" not in path and Path(path).name not in START_FILES] == []
    assert [path for path in left if "scratch" in path or ".probe" in path or path.endswith(".new")] == []
    if name not in HOPELESS:
        assert len([path for path in left if path.endswith(".pyz")]) == 1


@pytest.mark.parametrize("name", ["private-umask", "open-umask", "plain", "readonly-home"])
def test_what_is_left_is_for_its_user_alone(several: Several, name: str) -> None:
    tops = several.hosts[name].run(["find", "/home", VAR_TMP, "-name", "rerig*", "-printf", "%m %u\n"]).decode()
    assert tops == f"700 {USER}\n"

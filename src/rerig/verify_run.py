"""The checks of tests/state on one machine, as a pytest of this environment, and what they say of it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rerig.checkout import ROOT
from rerig.errors import UserError
from rerig.inventory import ansible_environment
from rerig.text import bounded, printable
from rerig.verify_checks import GROUPS
from rerig.verify_hosts import Subject

CHECKS = ROOT / "tests" / "state"
LIMIT_S = 300
# A pytest's ends that come with a report: all passed, some failed.
ENDED = (0, 1)


class Children:
    """The pytests that run, so that all of them can be ended."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    def run(self, command: list[str], environment: dict[str, str]) -> tuple[int, str]:
        """Status and output. In a session of its own: nothing in it can ask on the terminal. Raises UserError."""
        if self._closed:
            raise UserError("The checks were stopped.")
        child = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._running.add(child)
        try:
            output, _ = child.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise UserError(f"The checks had not ended after {LIMIT_S} s.") from error
        finally:
            self._end(child)
        return child.returncode, output.decode("utf-8", "replace")

    def end_all(self) -> None:
        """Kill what still runs, and start no more."""
        self._closed = True
        for child in list(self._running):
            self._end(child)

    def _end(self, child: subprocess.Popen[bytes]) -> None:
        if child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        if child.stdout:
            child.stdout.close()
        self._running.discard(child)


def run_checks(subject: Subject, groups: list[str], sudo: bool, children: Children) -> dict[str, Any]:
    """What the document of ./inv verify has of one host, see :func:`assess`. Raises UserError if nothing is known."""
    with tempfile.TemporaryDirectory(prefix="rerig-verify-") as scratch:
        report, desired = Path(scratch) / "report.json", Path(scratch) / "desired.json"
        desired.write_text(json.dumps(subject.desired), "utf-8")
        command = pytest_command(subject, groups, sudo, report, desired)
        status, output = children.run(command, _environment(scratch))
        try:
            (told,) = json.loads(report.read_text("utf-8"))["hosts"]
        except (OSError, ValueError, KeyError) as error:
            raise UserError(_broke_off(status, output)) from error
    return assess(subject.label, told, status, groups)


def pytest_command(subject: Subject, groups: list[str], sudo: bool, report: Path, desired: Path) -> list[str]:
    """The argv: only what is said here decides, no option, plugin or conftest of anywhere else."""
    files = [str(CHECKS / f"test_{group}.py") for group in groups]
    command = [sys.executable, "-I", "-m", "pytest", "-q", "-c", str(CHECKS / "pytest.ini"), f"--rootdir={CHECKS}"]
    command += [f"--confcutdir={CHECKS}", "-p", "no:cacheprovider", "-p", "testinfra.plugin", "--color=no"]
    command += [f"--hosts={subject.spec}", f"--rerig-report={report}", f"--rerig-desired={desired}"]
    command += [f"--ansible-inventory={subject.inventory}"] if subject.inventory else []
    return [*command, *(["--sudo"] if sudo else []), *files]


def assess(label: str, told: dict[str, Any], status: int, groups: list[str]) -> dict[str, Any]:
    """{"label", "green", "problem": sentence or None, "super": verdict or None, "checks": […]} of one host.

    Green only where every group asked for was checked and nothing failed or was skipped.
    """
    checks, problem = told["checks"], told["problem"]
    if problem is None:
        missing = [group for group in groups if not any(check["group"] == group for check in checks)]
        skipped = [check["what"] for check in checks if check["status"] == "skipped"]
        if missing or status not in ENDED:
            problem = f"The checks broke off (status {status}): {', '.join(missing) or 'not all'} not checked."
        elif skipped:
            problem = f"Skipped, so that nothing is known of it: {', '.join(skipped)}."
    good = all(check["status"] in ("ok", "warning") for check in checks)
    verdict = (told["look"] or {}).get("super")
    return {
        "label": label,
        "green": bool(checks) and good and problem is None and status == 0,
        "problem": problem,
        "super": verdict,
        "checks": sorted(checks, key=lambda check: GROUPS.index(check["group"])),
    }


def _environment(scratch: str) -> dict[str, str]:
    """testinfra starts ansible-inventory by its name; no pytest setting of the user's reaches the checks."""
    kept = {name: value for name, value in ansible_environment(scratch).items() if not name.startswith("PYTEST_")}
    return {
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_HOST_KEY_CHECKING": "true",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def _broke_off(status: int, output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    said = next((line for line in lines if line.startswith("ERROR: ")), lines[-1] if lines else "no word")
    return (
        f"The checks broke off (status {status}): {printable(bounded(said.removeprefix('ERROR: '), 200)).rstrip('.')}."
    )

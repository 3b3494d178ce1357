"""The bounded child: exit statuses, time limits, stalls, the I/O account, and stopping on request."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from rerig_agent import child
from rerig_agent.child import StopFlag, Stopped, child_environment, run_child
from rerig_agent.parse.procfs import parse_process_io

PYTHON = sys.executable


def run(directory: Path, code: str, limit_s: float = 60, **options: Any) -> dict[str, Any]:
    return run_child([PYTHON, "-c", code], directory, limit_s, StopFlag(), **options)


def test_output_and_exit_status_are_kept(tmp_path: Path) -> None:
    outcome = run(tmp_path, "import sys; print('out'); sys.stderr.write('err'); sys.exit(7)")
    assert outcome["exit_status"] == 7
    assert outcome["signal"] is None
    assert not outcome["timed_out"]
    assert (tmp_path / "stdout").read_text() == "out\n"
    assert (tmp_path / "stderr").read_text() == "err"


def test_a_child_killed_by_a_signal_says_which(tmp_path: Path) -> None:
    outcome = run(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert outcome["exit_status"] is None
    assert outcome["signal"] == signal.SIGSEGV


def test_a_missing_program_is_an_error_and_no_exception(tmp_path: Path) -> None:
    outcome = run_child(["rerig-no-such-tool"], tmp_path, 10, StopFlag())
    assert outcome["error"] == "No such file or directory"
    assert outcome["exit_status"] is None


def test_the_io_account_is_complete_although_the_child_has_ended(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(os.urandom(3_000_000))
    outcome = run(tmp_path, f"open({str(data)!r}, 'rb').read()")
    assert parse_process_io(outcome["child_io"])["rchar"] >= 3_000_000


@pytest.mark.root
def test_an_ordinary_user_is_told_how_much_was_read_from_the_disk(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(os.urandom(3 * 2**20))
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)
    code = (
        "import os, resource, sys; from pathlib import Path\n"
        "sys.path.insert(0, sys.argv[2]); from rerig_agent.child import StopFlag, run_child\n"
        "os.setuid(65534)\n"
        "argv = ['dd', 'if=' + sys.argv[1], 'of=/dev/null', 'bs=1M', 'iflag=direct']\n"
        "done = run_child(argv, Path('.'), 60, StopFlag())\n"
        "print(done['child_io'], done['child_read_bytes'])"
    )
    folder = tmp_path / "out"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    sources = str(Path(child.__file__).resolve().parents[1])
    argv = [PYTHON, "-c", code, str(data), sources]
    done = subprocess.run(argv, cwd=str(folder), stdout=subprocess.PIPE, check=True, text=True)
    io, read_bytes = done.stdout.split()
    assert io == "None"
    assert 3 * 2**20 <= int(read_bytes) < 4 * 2**20  # dd itself may come from the disk as well


def test_the_time_limit_ends_a_child_that_ignores_sigterm(tmp_path: Path) -> None:
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
    )
    outcome = run(tmp_path, code, limit_s=1)
    assert outcome["timed_out"]
    assert not outcome["unkillable"]
    assert outcome["signal"] in (signal.SIGTERM, signal.SIGKILL)


def test_grandchildren_do_not_survive_the_time_limit(tmp_path: Path) -> None:
    sleeper = "[sys.executable, '-c', 'import time; time.sleep(600)']"
    code = f"import subprocess, sys, time; print(subprocess.Popen({sleeper}).pid, flush=True); time.sleep(600)"
    run(tmp_path, code, limit_s=2)
    pid = int((tmp_path / "stdout").read_text())
    assert _gone(pid)


def _gone(pid: int) -> bool:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":  # killed, and waiting for an init that takes its time
            return True
        time.sleep(0.02)
    return False


def test_a_child_that_reads_nothing_is_ended_as_stalled(tmp_path: Path) -> None:
    outcome = run(tmp_path, "import time; time.sleep(600)", limit_s=300, stall_s=1)
    assert outcome["timed_out"]


def test_a_child_that_reads_on_is_not_stalled(tmp_path: Path) -> None:
    code = (
        "import time\nf = open('/dev/zero', 'rb', buffering=0)\nfor _ in range(40):\n    f.read(4096); time.sleep(0.05)"
    )
    outcome = run(tmp_path, code, stall_s=1.5)
    assert outcome["exit_status"] == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_request_ends_the_child_and_is_raised(tmp_path: Path, number: int) -> None:
    stop = StopFlag()
    threading.Timer(0.5, stop._remember, (number, None)).start()
    with pytest.raises(Stopped) as stopped:
        run_child(
            [PYTHON, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(600)"], tmp_path, 600, stop
        )
    assert stopped.value.signal_number == number
    text = (tmp_path / "stdout").read_text()
    assert not text or _gone(int(text))


def test_the_first_signal_counts() -> None:
    stop = StopFlag()
    stop._remember(signal.SIGTERM, None)
    stop._remember(signal.SIGINT, None)
    with pytest.raises(Stopped) as stopped:
        stop.check()
    assert stopped.value.signal_number == signal.SIGTERM


def test_children_speak_the_c_locale_and_know_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANGUAGE", "LC_MESSAGES", "LC_NUMERIC"):
        monkeypatch.setenv(name, "ko_KR.UTF-8")
    environment = child_environment()
    assert environment["LC_ALL"] == "C"
    assert "LANGUAGE" not in environment
    assert "LC_MESSAGES" not in environment


def test_ticks_tell_the_time_that_has_passed(tmp_path: Path) -> None:
    ticks: list[float] = []
    run(tmp_path, "import time; time.sleep(1)", tick=ticks.append)
    assert ticks == sorted(ticks)
    assert ticks

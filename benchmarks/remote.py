"""What other machines cost: the controller's time on the CPU with eight at once, and a remote run beside a local one.

Real sshd processes on 127.0.0.1, each in namespaces of its own (root; needs the development environment).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from remote_runs import RemoteRuns  # noqa: E402 - tests is on the path from here on
from ssh_bed import SshBed, prepare_tools  # noqa: E402 - as above

HOSTS = 8
# As lazy as fio can be: what is asked is the cost of following, not of reading.
WAITING = """\
format: rerig-suite
format_version: "1.0"
name: waiting
version: "1.0"
title: Reads that a gate holds
scratch_bytes: 1048576
cases:
  - name: dd-1m
    kind: dd_read
    direct: true
    block_bytes: 1048576
    read_bytes: {network: 1048576, default: 1048576}
    repeats: 1
"""


def follow_many(folder: Path, seconds: float) -> None:
    """Two runs on eight machines, one of them held for a while: the difference is what following costs."""
    spent = []
    for hold_s in (0.0, seconds):
        own = folder / f"hold{hold_s:g}"
        own.mkdir()
        with SshBed(own, prepare_tools()) as bed:
            hosts = [bed.start(f"box{number}", gated=["dd"]) for number in range(HOSTS)]
            runs = RemoteRuns(bed, own)
            (own / "tiny.yml").write_text(WAITING, "utf-8")
            for host in hosts:
                host.gates.shut("dd")
            argv = runs.cli.argv(*runs.words(*(f"jetson@{host.name}" for host in hosts)))
            # The machines are children of this process too: what counts is the controller alone.
            timed = [sys.executable, "-c", TIMED, *argv]
            with subprocess.Popen(
                timed, cwd=own, env=runs.cli.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            ) as controller:
                for host in hosts:
                    host.gates.wait_until_reached("dd")
                time.sleep(hold_s)
                for host in hosts:
                    host.gates.open("dd")
                output, _ = controller.communicate(timeout=300)
            status, used = output.split()[-2:]
            if status != "0":
                raise SystemExit(f"rerun ended with {status}")
            spent.append(float(used))
    each = (spent[1] - spent[0]) / HOSTS / (seconds / 60)
    print(f"controller, {HOSTS} machines: {spent[0]:.2f} s of CPU, {spent[1]:.2f} s when held for {seconds:g} s")
    print(f"following costs {each:.3f} core-seconds a minute and machine (aim: at most 1)")


TIMED = """\
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, used.ru_utime + used.ru_stime)
"""


def beside_local(folder: Path, rounds: int) -> None:
    """The same tiny suite on this machine and on another one, in turn."""
    tools = prepare_tools()
    differences = []
    with SshBed(folder, tools) as bed:
        bed.start("box")
        runs = RemoteRuns(bed, folder)
        for _round in range(rounds):
            local, remote = (timed(runs, *hosts) for hosts in ((), ("jetson@box",)))
            differences.append(remote - local)
            print(f"local {local:.2f} s, remote {remote:.2f} s, difference {remote - local:+.2f} s")
    print(f"median difference {statistics.median(differences):+.2f} s (aim: at most +2 s)")


def timed(runs: RemoteRuns, *hosts: str) -> float:
    started = time.monotonic()
    # dd alone on both sides: a fio may be missing here.
    runs.rerun(*hosts, more=("--repeats", "1"))
    return time.monotonic() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--hold", type=float, default=60.0, help="seconds that eight machines are followed (default: 60)"
    )
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs (default: 5)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix="rerig-bench-") as name:
        os.environ["PATH"] = f"{ROOT / 'build' / 'tools-cache' / 'fio' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        (Path(name) / "pairs").mkdir()
        beside_local(Path(name) / "pairs", arguments.rounds)
        follow_many(Path(name), arguments.hold)


if __name__ == "__main__":
    main()

"""What a no-change ``./inv provision`` costs beside the least that Ansible can do on the same connection.

The board is a container with the files and tools of a Jetson (root). Beside it, in turn: ``ansible -m setup`` and one
``ansible -m ping`` a role; and one play of the same tasks, which starts Ansible once and is the stricter measure.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from rerig.provision import site_roles  # noqa: E402 - src is on the path from here on
from twin.container import Container  # noqa: E402 - tests is on the path too
from twin.l4t import layer  # noqa: E402 - as above
from twin.l4t.personalities import SUPER  # noqa: E402 - as above

ANSIBLE = [sys.executable, "-I", "-m", "ansible"]


class Bench:
    """A user whose one host is the container, and the commands to compare."""

    def __init__(self, container: Container, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "LC_ALL": "C.UTF-8"}
        self.inventory = folder / "hosts.json"
        variables = {
            "ansible_host": "twin",
            "ansible_user": "jetson",
            "ansible_ssh_common_args": f"-F {container.shell.config}",
            "ansible_control_path_dir": str(container.sockets),
            "bench_tools_packages": ["bash"],  # is there; the container reaches no repository
        }
        self.inventory.write_text(json.dumps({"all": {"hosts": {"orin": variables}}}), "utf-8")
        tasks = [{"ansible.builtin.setup": {}}, *[{"ansible.builtin.ping": {}}] * len(site_roles())]
        (folder / "least.yml").write_text(
            json.dumps([{"hosts": "all", "gather_facts": False, "tasks": tasks}]), "utf-8"
        )

    def provision(self) -> str:
        words = [sys.executable, "-I", "-m", "rerig", "provision", "--host", "orin", "--inventory", str(self.inventory)]
        return self.run(words)

    def commands(self) -> str:
        modules = ["ansible.builtin.setup", *["ansible.builtin.ping"] * len(site_roles())]
        return "".join(self.run([*ANSIBLE, "adhoc", "-i", str(self.inventory), "orin", "-m", name]) for name in modules)

    def play(self) -> str:
        return self.run([*ANSIBLE, "playbook", "-i", str(self.inventory), str(self.folder / "least.yml")])

    def run(self, words: list[str]) -> str:
        done = subprocess.run(
            words, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        return done.stdout + done.stderr


def timed(what: Callable[[], str]) -> tuple[float, str]:
    """Seconds, and what was printed."""
    started = time.monotonic()
    printed = what()
    return time.monotonic() - started, printed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="times each, in turn (default: 5)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rerig-bench-") as name, Container(Path(name) / "container") as container:
        container.wait_ready()
        layer.apply(container.shell, SUPER)
        bench = Bench(container, Path(name))
        bench.provision()
        container.reboot()
        bench.provision()
        rounds = []
        for number in range(1, arguments.rounds + 1):
            (own, printed), (commands, _), (play, _) = timed(bench.provision), timed(bench.commands), timed(bench.play)
            rounds.append((own, commands, play))
            print(f"round {number}: provision {own:.2f} s, setup and pings {commands:.2f} s, as one play {play:.2f} s")
    counts = re.search(r"^orin +: ok=(\d+) +changed=(\d+) .*skipped=(\d+)", printed, re.MULTILINE)
    if counts is None or counts[2] != "0":
        raise SystemExit(f"The last provision was to change nothing:\n{printed}")
    print(f"tasks: {counts[1]} done, {counts[3]} skipped; of the least: {len(site_roles()) + 1}")
    ratio = statistics.median(own / commands for own, commands, _ in rounds)
    stricter = statistics.median(own / play for own, _, play in rounds)
    print(f"median ratio {ratio:.2f} (aim: at most 2.5); to one play {stricter:.2f}")


if __name__ == "__main__":
    main()

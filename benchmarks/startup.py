"""``./inv --list`` beside a bare ``import invoke``; the agent's way to its first case, its memory and its size."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rerig.plan import PlanOptions, expand_plan  # noqa: E402 - src is on the path from here on
from rerig.runner import local_agent  # noqa: E402 - as above
from rerig.suite import load_suite  # noqa: E402 - as above

ROUNDS = 15


def seconds(argv: list[str]) -> float:
    started = time.monotonic()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - started


def list_against_import() -> None:
    """Both in turn, the median of each, and their pairwise ratio."""
    pairs = [
        (seconds([str(ROOT / "inv"), "--list"]), seconds([sys.executable, "-c", "import invoke"]))
        for _round in range(ROUNDS)
    ][1:]
    listing, bare = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"./inv --list {listing * 1000:.0f} ms, import invoke {bare * 1000:.0f} ms, ratio {listing / bare:.2f}")
    print(f"over 1.25 × import: {(listing - 1.25 * bare) * 1000:+.0f} ms (aim: at most +30 ms)")


def agent_figures() -> None:
    """Time from the agent's start to its first case, its largest resident memory, and its archive's size."""
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix="rerig-bench-") as name, local_agent() as agent:
        model = Path(name) / "model.bin"
        model.write_bytes(os.urandom(2**26))
        plan = expand_plan(
            load_suite("storage"),
            agent.probe([str(model)], None),
            agent.identity(),
            PlanOptions("20260101T000000Z-bench", repeats=1),
        )
        plan_path = Path(name) / "plan.json"
        plan_path.write_text(json.dumps(plan))
        argv = agent._argv("run", "--plan", str(plan_path), "--run-dir", str(Path(name) / "run"), "--progress", "json")
        started = time.monotonic()
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        peaks: list[int] = []
        watcher = threading.Thread(target=watch_memory, args=(process, peaks), daemon=True)
        watcher.start()
        first_s = first_case(process, started)
        process.wait()
        watcher.join()
        print(f"agent: first case after {first_s:.2f} s (aim: at most 0.5 s)")
        print(f"agent: at most {max(peaks) / 1024:.1f} MiB resident (aim: at most 25 MB)")
        print(f"agent: archive of {agent.path.stat().st_size / 1000:.0f} kB (aim: at most 400 kB)")


def first_case(process: subprocess.Popen[str], started: float) -> float:
    first: float | None = None
    for line in process.stdout or ():
        event: dict[str, Any] = json.loads(line)
        if event["event"] == "repeat-start" and first is None:
            first = time.monotonic() - started
    if first is None:
        raise SystemExit("the agent ran no case")
    return first


def watch_memory(process: subprocess.Popen[str], peaks: list[int]) -> None:
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            return
        peaks += [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")]
        time.sleep(0.05)


if __name__ == "__main__":
    list_against_import()
    agent_figures()

"""Cost of the harness: the wall time of rerig's repeats over that of the same commands by hand, back to back.

The disk's own changes from run to run are larger than that cost, so the journal is read too: the time of the repeats
over the time of the tools inside them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rerig.plan import PlanOptions, expand_plan  # noqa: E402 - src is on the path from here on
from rerig.runner import local_agent  # noqa: E402 - as above
from rerig.suite import load_suite  # noqa: E402 - as above


def by_hand(commands: list[list[str]], directory: Path) -> float:
    """Seconds of the commands, one after the other, as a person would run them."""
    started = time.monotonic()
    for command in commands:
        subprocess.run(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - started


def by_rerig(run_dir: Path) -> float:
    """Seconds between the journal's start and end of every repeat, counters and residency included."""
    total, started = 0.0, 0.0
    for line in (run_dir / "journal.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "repeat-start":
            started = event["monotonic_s"]
        elif event["event"] == "repeat-done":
            total += event["monotonic_s"] - started
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=2**31, help="bytes of the file (default: 2 GiB)")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of runs (default: 3)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix="rerig-bench-") as name, local_agent() as agent:
        directory = Path(name)
        model = directory / "model.bin"
        with model.open("wb") as file:
            for _block in range(arguments.size // 2**22):
                file.write(os.urandom(2**22))
            os.fsync(file.fileno())
        ratios = []
        for number in range(1, arguments.rounds + 1):
            run_id = f"20260101T00000{number}Z-bench"
            probe = agent.probe([str(model)], None)
            plan = expand_plan(load_suite("storage"), probe, agent.identity(), PlanOptions(run_id, repeats=1))
            run_dir = directory / f"run{number}"
            agent.run(plan, run_dir, lambda _event: None)
            records = [json.loads(path.read_text()) for path in run_dir.glob("cases/*/r1/record.json")]
            hand = by_hand([record["argv"] for record in sorted(records, key=lambda r: r["started_at"])], directory)
            ratios.append(by_rerig(run_dir) / hand)
            print(f"round {number}: rerig {by_rerig(run_dir):.2f} s, by hand {hand:.2f} s, ratio {ratios[-1]:.4f}")
            inside = sum(record["wall_s"] for record in records)
            print(f"         repeats over the tools inside them: {by_rerig(run_dir) / inside:.4f}")
    print(f"median ratio {statistics.median(ratios):.4f} (aim: at most 1.03)")


if __name__ == "__main__":
    main()

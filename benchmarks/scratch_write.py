"""Speed of writing the scratch file over that of ``dd if=/dev/zero oflag=direct bs=8M``, in turn on the same disk."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rerig_agent.child import StopFlag  # noqa: E402 - src is on the path from here on
from rerig_agent.journal import SCRATCH_PREFIX  # noqa: E402 - as above
from rerig_agent.scratch import create_scratch  # noqa: E402 - as above


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=2**32, help="bytes (default: 4 GiB)")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of writes (default: 5)")
    arguments = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix="rerig-bench-") as directory:
        ours_path, dd_path = Path(directory) / (SCRATCH_PREFIX + "x.bin"), Path(directory) / "zero.bin"
        for number in range(1, arguments.rounds + 1):
            started = time.monotonic()
            create_scratch(ours_path, arguments.size, StopFlag())
            ours_s = time.monotonic() - started
            ours_path.unlink()
            dd = ["dd", "if=/dev/zero", f"of={dd_path}", "bs=8M", f"count={arguments.size // 2**23}"]
            started = time.monotonic()
            subprocess.run([*dd, "oflag=direct", "conv=fsync"], check=True, stderr=subprocess.DEVNULL)
            dd_s = time.monotonic() - started
            dd_path.unlink()
            ratios.append(dd_s / ours_s)
            rates = [arguments.size / seconds / 1e9 for seconds in (ours_s, dd_s)]
            print(f"round {number}: scratch {rates[0]:.2f} GB/s, dd {rates[1]:.2f} GB/s, ratio {ratios[-1]:.3f}")
    print(f"median ratio {statistics.median(ratios):.3f} (aim: at least 0.80)")


if __name__ == "__main__":
    main()

"""A loop device held to a known rate by cgroup v1 blkio, read by rerig's dd and fio cases for 20 s and more (root)."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rerig import rerun  # noqa: E402 - src is on the path from here on
from rerig.runner import local_agent  # noqa: E402 - as above

BLKIO = Path("/sys/fs/cgroup/blkio")
SECONDS = 24
SUITE = """\
format: rerig-suite
format_version: "1.0"
name: known-rate
version: "1.0"
title: long reads of a disk that is held to a known rate
scratch_bytes: 4294967296
cases:
  - {name: dd-8m, kind: dd_read, direct: true, block_bytes: 8388608, read_bytes: {default: 1099511627776}, repeats: 1}
  - {name: seq-1m, kind: fio_read, direct: true, block_bytes: 1048576, pattern: sequential, queue_depth: 4,
     engines: [io_uring, libaio], runtime_limit_s: 60, repeats: 1}
  - {name: rand-128k, kind: fio_read, direct: true, block_bytes: 131072, pattern: random, queue_depth: 8,
     engines: [io_uring, libaio], runtime_limit_s: 60, repeats: 1}
"""


def output(*argv: str) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


@contextlib.contextmanager
def loop_file_system(directory: Path, size_bytes: int) -> Iterator[tuple[str, Path]]:
    """(major:minor of a loop device with direct I/O, its mount point)."""
    image, mount_point = directory / "disk.img", directory / "disk"
    mount_point.mkdir()
    output("fallocate", "-l", str(size_bytes + size_bytes // 8 + 2**26), str(image))
    output("mkfs.ext4", "-q", "-F", str(image))
    device = output("losetup", "--direct-io=on", "--find", "--show", str(image))
    try:
        output("mount", device, str(mount_point))
        try:
            yield (Path("/sys/block") / Path(device).name / "dev").read_text().strip(), mount_point
        finally:
            output("umount", str(mount_point))
    finally:
        output("losetup", "--detach", device)


@contextlib.contextmanager
def held_to(rate: int, device: str) -> Iterator[None]:
    """This process and its children read ``device`` at ``rate`` bytes a second at most."""
    group = BLKIO / f"rerig-known-rate-{os.getpid()}"
    group.mkdir()
    try:
        (group / "blkio.throttle.read_bps_device").write_text(f"{device} {rate}")
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield
    finally:
        (BLKIO / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=20 * 2**20, help="bytes a second (default: 20 MiB)")
    rate = parser.parse_args().rate
    if os.geteuid() != 0 or not BLKIO.is_dir():
        raise SystemExit("This needs root and the cgroup v1 controller blkio.")
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix="rerig-bench-") as name, local_agent() as agent:
        directory = Path(name)
        (directory / "known-rate.yml").write_text(SUITE)
        with loop_file_system(directory, SECONDS * rate) as (device, mount_point):
            model = mount_point / "model.bin"
            model.write_bytes(os.urandom(SECONDS * rate // 2**23 * 2**23))
            os.sync()
            request = rerun.Request(paths=[str(model)], suite=str(directory / "known-rate.yml"))
            plan = rerun.make_plan(agent, request).plan
            with held_to(rate, device):
                finished = rerun.execute(agent, plan, directory / "runs", lambda _event: None)
            if finished.path is None:
                raise SystemExit(finished.sentence)
            result = json.loads(finished.path.read_text())
    for case in result["cases"]:
        measured = statistics.fmean(repeat["bandwidth_bytes_per_s"] for repeat in case["repeats"])
        seconds = sum(repeat["duration_s"] for repeat in case["repeats"])
        print(f"{case['id']}: {measured / rate - 1:+.2%} of the known rate over {seconds:.1f} s (aim: within 2 %)")


if __name__ == "__main__":
    main()

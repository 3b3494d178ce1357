"""One repeat of a power budget: processors and GPU under load, and what the machine says meanwhile, kept raw."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, Iterator

from . import power_samples
from .child import POLL_S, StopFlag, child_environment, die_with_parent
from .files import write_json
from .journal import utc_now
from .load import Load, under_load

SAMPLES_NAME = "samples.jsonl"
TEGRASTATS_NAME = "tegrastats"


def run_power_repeat(
    case: dict[str, Any], directory: Path, stop: StopFlag, tick: Callable[[float], None], root: Path = Path("/")
) -> dict[str, Any]:
    """Load the machine for ``load_s`` and let it cool for ``cool_s``; a sample every ``sample_s`` of both.

    Writes into ``directory``: ``record.json`` (what is returned), ``samples.jsonl``, ``tegrastats`` (its lines of the
    load, where it is there), and what :func:`rerig_agent.load.under_load` writes. ``root`` stands for the machine's in
    the sensors' paths. Raises Stopped, after the load has ended; OSError.
    """
    directory.mkdir(parents=True)
    parameters = case["parameters"]
    load_s, cool_s, sample_s = (float(parameters[key]) for key in ("load_s", "cool_s", "sample_s"))
    cpus, gpu = sorted(os.sched_getaffinity(0)), parameters["gpu_load"]
    sensors, tegrastats = power_samples.describe(root), power_samples.find_tegrastats()
    started_at, started_s = utc_now(), time.monotonic()
    with (directory / SAMPLES_NAME).open("a", encoding="ascii") as samples:
        clock = _Clock(samples, sensors, root, started_s, sample_s, stop, tick)
        with under_load(directory, cpus, gpu) as load, _watched_by(tegrastats, directory, sample_s):
            is_whole = clock.follow("load", load_s, load)
        loaded_s = time.monotonic() - started_s
        if is_whole:
            clock.follow("cool", cool_s, None)
        samples.flush()
        os.fsync(samples.fileno())
    record = {
        "started_at": started_at,
        "wall_s": time.monotonic() - started_s,
        "load_s": loaded_s,
        "cpus": cpus,
        "gpu_load": gpu,
        "tegrastats": tegrastats,
        "sensors": sensors,
        "exit_status": 0 if is_whole else 1,
        "timed_out": False,
        "unkillable": not load.clean,
        "error": None if is_whole else "the load ended before its time",
    }
    write_json(directory / "record.json", record)
    return record


class _Clock:
    """Takes a sample at every whole multiple of ``sample_s``; what takes longer loses samples, not their times."""

    def __init__(
        self,
        samples: Any,
        sensors: dict[str, Any],
        root: Path,
        started_s: float,
        sample_s: float,
        stop: StopFlag,
        tick: Callable[[float], None],
    ) -> None:
        self._samples = samples
        self._sensors = sensors
        self._root = root
        self._started_s = started_s
        self._sample_s = sample_s
        self._stop = stop
        self._tick = tick

    def follow(self, phase: str, length_s: float, load: Load | None) -> bool:
        """Sample for so long, at both ends too; False where the load has ended meanwhile. Raises Stopped."""
        began_s = time.monotonic()
        number = 0
        while True:
            self._take(phase)
            passed = time.monotonic() - began_s
            if passed >= length_s:
                return True
            number = max(number + 1, int(passed / self._sample_s))
            if not self._wait(min(began_s + number * self._sample_s, began_s + length_s), load):
                return False

    def _take(self, phase: str) -> None:
        at_s = time.monotonic() - self._started_s
        sample = {"at_s": round(at_s, 3), "phase": phase, **power_samples.take(self._sensors, self._root)}
        self._samples.write(json.dumps(sample) + "\n")
        self._samples.flush()

    def _wait(self, until_s: float, load: Load | None) -> bool:
        while True:
            self._stop.check()
            now_s = time.monotonic()
            self._tick(now_s - self._started_s)
            if load is not None and not load.is_on():
                return False
            if now_s >= until_s:
                return True
            select.select([], [], [], min(POLL_S, until_s - now_s))


@contextlib.contextmanager
def _watched_by(tegrastats: str | None, directory: Path, sample_s: float) -> Iterator[None]:
    """tegrastats runs while the block lasts, and its lines go to a file; one that can't be started is none."""
    if tegrastats is None:
        yield
        return
    argv = [tegrastats, "--interval", str(max(1, round(sample_s * 1000)))]
    with (directory / TEGRASTATS_NAME).open("wb") as lines:
        try:
            child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=lines,
                stderr=subprocess.DEVNULL,
                env=child_environment(),
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        except OSError:
            yield
            return
    try:
        yield
    finally:
        _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Asked first: what it has not yet written out, it then may."""
    child.terminate()
    try:
        child.wait(1.0)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()

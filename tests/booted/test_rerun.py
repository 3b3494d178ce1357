"""``./inv rerun --host`` on a booted machine whose disk has a known speed: the result tells that speed."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from booted.controller import HOST, Controller, fio_reads, sequential_dd
from booted.readable_disk import FILE, MIB, mount_readable_disk, write_readable_disk
from twin.disks import AttachedDisk
from twin.machine import Machine

pytestmark = [pytest.mark.twin, pytest.mark.quiet]

TOLERANCE = 0.02
LONG_S = 21  # the limit's burst of a tenth of a second is within the tolerance by far
SHORT_S = 3


class Bench(NamedTuple):
    """The user, and a disk that can be slowed down."""

    controller: Controller
    disk: AttachedDisk

    def measure(self, suite: str, **limits: int) -> dict[str, Any]:
        """The result of a run with these limits and no others, by the name of each case."""
        self.disk.limit(**{"bps_read": 0, "iops_read": 0, **limits})
        document = self.controller.document(
            self.controller.cli.run("rerun", "--quiet", "--host", HOST, "--suite", suite, "--path", FILE).stdout
        )
        assert document["run"]["complete"]
        return {case["id"].removesuffix(".t1"): case for case in document["cases"]}


@pytest.fixture(scope="module")
def bench(shared_twin_amd64: Machine, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """One machine for all settings, since a limit can be changed at any time."""
    folder = tmp_path_factory.mktemp("bench")
    write_readable_disk(folder / "disk", 2200 * MIB)
    disk = mount_readable_disk(shared_twin_amd64, folder / "disk", "RATED-1")
    return Bench(Controller(folder, shared_twin_amd64.shell), disk)


def only_repeat(case: dict[str, Any]) -> dict[str, Any]:
    """The case's one repeat, which must have taken long enough to be judged, and whose bytes are proved."""
    (repeat,) = case["repeats"]
    assert repeat["duration_s"] >= 20
    assert repeat["proof"]["verdict"] == "delivered"
    return repeat


def test_a_limit_of_50_mib_a_second_is_the_figure_and_a_short_read_a_doubtful_one(bench: Bench) -> None:
    long, short = sequential_dd("long", 50 * LONG_S * MIB), sequential_dd("short", 50 * SHORT_S * MIB)
    cases = bench.measure(bench.controller.suite("bytes-50", long, short), bps_read=50 * MIB)
    assert only_repeat(cases["long"])["bandwidth_bytes_per_s"] == pytest.approx(50 * MIB, rel=TOLERANCE)
    doubts = {name: [issue["code"] for issue in case["validity"]["issues"]] for name, case in cases.items()}
    assert "short_run" not in doubts["long"]
    assert "short_run" in doubts["short"]


def test_a_limit_of_100_mib_a_second_is_the_figure_of_dd_and_of_fio(bench: Bench) -> None:
    dd, fio = sequential_dd("dd", 100 * LONG_S * MIB), fio_reads("fio", "sequential", MIB, 4, LONG_S)
    cases = bench.measure(bench.controller.suite("bytes-100", dd, fio), bps_read=100 * MIB)
    rates = {name: only_repeat(case)["bandwidth_bytes_per_s"] for name, case in cases.items()}
    assert rates == pytest.approx(dict.fromkeys(("dd", "fio"), 100 * MIB), rel=TOLERANCE)


@pytest.mark.parametrize(("iops", "queue_depth"), [(500, 1), (1000, 4)])
def test_a_limit_in_requests_is_the_figure(bench: Bench, iops: int, queue_depth: int) -> None:
    suite = bench.controller.suite(f"requests-{iops}", fio_reads("fio", "random", 4096, queue_depth, LONG_S))
    repeat = only_repeat(bench.measure(suite, iops_read=iops)["fio"])
    assert repeat["fio"]["iops"] == pytest.approx(iops, rel=TOLERANCE)

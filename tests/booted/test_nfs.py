"""Network storage in a booted Linux: bytes that are right, rates that are known, a server that goes and comes back."""

from __future__ import annotations

import hashlib
import random
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from booted.controller import HOST, Controller, sequential_dd
from twin.errors import TwinError
from twin.machine import Machine
from twin.nfs import BURST_BYTES, FOLDER, RATES, VERSIONS, NfsServer, Wire, steady
from waiting import wait_for

pytestmark = [pytest.mark.twin, pytest.mark.quiet]

MIB = 2**20
TOLERANCE = 0.02
BYTES_PER_S = 1e6 / 8  # of one Mbit/s
LONG_S = 20
LONG_MBIT = 80
LONG_MIB = 208
FILE = f"{FOLDER}/file"
KNOWN = random.Random(4).randbytes(4 * MIB + 1)  # noqa: S311 - no secret: the same bytes in every run
SOFT = "soft,timeo=10,retrans=1,retry=0"


@pytest.fixture(scope="module")
def nas(shared_twin_amd64: Machine) -> NfsServer:
    """A server for all tests, each of which sets the rate that it needs."""
    nas = NfsServer(shared_twin_amd64)
    nas.start()
    nas.fill("file", LONG_MIB)
    nas.shell.put({f"{nas.export}/known": KNOWN})
    return nas


@contextmanager
def mounted(nas: NfsServer, version: str = "4.2", options: str = "hard", folder: str = FOLDER) -> Iterator[None]:
    nas.mount(folder, version=version, options=options)
    try:
        yield
    finally:
        nas.unmount(folder)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_is_read_with_its_bytes(nas: NfsServer, version: str) -> None:
    nas.rate(None)
    with mounted(nas, version):
        options = nas.shell.script(f"findmnt --noheadings --output OPTIONS {FOLDER}")
        assert f"vers={version}," in options
        assert nas.shell.script(f"sha256sum < {FOLDER}/known").split()[0] == hashlib.sha256(KNOWN).hexdigest()


def test_systemd_mounts_it_by_a_unit(nas: NfsServer) -> None:
    unit = f"[Mount]\nWhat=nas:{nas.export}\nWhere={FOLDER}\nType=nfs\nOptions=vers=4.2,ro\n"
    nas.shell.put({"/etc/systemd/system/mnt-nas.mount": unit})
    nas.shell.script(f"systemctl start mnt-nas.mount; test -r {FILE}; systemctl stop mnt-nas.mount")


@pytest.mark.parametrize("mbit", RATES)
def test_a_read_takes_the_time_that_the_rate_gives_it(nas: NfsServer, mbit: int) -> None:
    long = mbit == LONG_MBIT
    mib = LONG_MIB if long else mbit * 3 // 8
    nas.rate(mbit)
    with mounted(nas):
        wire = nas.measure_wire(read(mib))
    print(mbit, wire.bytes_per_s, mib * MIB / wire.bytes, wire.payload_bytes / (mib * MIB))
    assert 0.90 < mib * MIB / wire.bytes < 0.97
    assert mib * MIB < wire.payload_bytes < 1.005 * mib * MIB
    assert wire.bytes < most(wire, mbit)
    assert not long or wire.seconds > LONG_S
    if wire.bytes_per_s < (1 - (TOLERANCE if long else 0.25)) * mbit * BYTES_PER_S:
        assert_busy(nas, mbit)


def test_a_changed_rate_counts_at_once_for_a_read_that_goes_on(nas: NfsServer) -> None:
    nas.rate(20)
    with mounted(nas), reading(nas, [FOLDER]):
        slow = nas.measure_wire(2)
        nas.rate(80)
        fast = nas.measure_wire(2)
    assert slow.bytes < most(slow, 20)
    assert 1.5 * slow.bytes < fast.bytes < most(fast, 80)


def test_reads_go_on_when_the_server_comes_back(nas: NfsServer) -> None:
    nas.rate(40)
    folders = {version: f"/mnt/hard-{version}" for version in ("3", "4.2")}
    with ExitStack() as stack:
        for version, folder in folders.items():
            stack.enter_context(mounted(nas, version, folder=folder))
        reads = stack.enter_context(reading(nas, list(folders.values()), mib=24))
        nas.stop()
        assert nas.measure_wire(2).payload_bytes < MIB
        nas.rate(None)
        nas.start_again()
        for read in reads:
            assert read.communicate(timeout=120) == (b"", b"")
            assert read.returncode == 0


def test_a_soft_mount_gives_an_error_when_the_server_is_gone(nas: NfsServer) -> None:
    """Of version 3: 4.2 does so too, after several such times."""
    nas.rate(40)
    with mounted(nas, "3", options=SOFT), reading(nas, [FOLDER]) as reads:
        nas.kill()
        _, told = reads[0].communicate(timeout=60)
        assert reads[0].returncode != 0
        assert b"Input/output error" in told or b"Connection timed out" in told
        assert nas.measure_wire(0.5).payload_bytes == 0
    nas.start_again()


def test_a_server_that_stopped_refuses_and_one_without_power_does_not_answer(nas: NfsServer) -> None:
    nas.stop()
    connect = "timeout 3 bash -c '< /dev/tcp/nas/2049' 2>&1 || echo $?"
    assert "Connection refused" in nas.shell.script(connect)
    nas.kill()
    assert nas.shell.script(connect) == "124\n"
    nas.start_again()


def test_an_export_that_is_only_read_takes_no_writes(nas: NfsServer) -> None:
    nas.start(read_only=True)
    with mounted(nas, "3"), pytest.raises(TwinError, match="Read-only file system"):
        nas.shell.script(f"test -r {FILE}; touch {FOLDER}/new")
    nas.start()
    with mounted(nas, "3"):
        nas.shell.script(f"touch {FOLDER}/new; rm {nas.export}/new")


def test_rerig_reports_what_the_link_carried(nas: NfsServer, tmp_path: Path) -> None:
    controller = Controller(tmp_path, nas.shell)
    suite = controller.suite("nas", sequential_dd("dd", LONG_MIB * MIB, 8 * MIB))
    nas.rate(LONG_MBIT)
    with mounted(nas), nas.watched() as samples:
        words = ["rerun", "--quiet", "--host", HOST, "--suite", suite, "--path", FILE]
        document = controller.document(controller.cli.run(*words).stdout)
    (repeat,) = document["cases"][0]["repeats"]
    assert repeat["proof"]["verdict"] == "delivered"
    assert repeat["duration_s"] > LONG_S
    wire = steady(samples, above_bytes_per_s=MIB)
    print(repeat["bandwidth_bytes_per_s"], wire.payload_bytes_per_s)
    assert wire.seconds > 0.9 * LONG_S
    assert repeat["bandwidth_bytes_per_s"] == pytest.approx(wire.payload_bytes_per_s, rel=TOLERANCE)


@contextmanager
def reading(nas: NfsServer, folders: list[str], mib: int = LONG_MIB) -> Iterator[list[subprocess.Popen[bytes]]]:
    """A direct read of so much of the file in each folder, compared with the server's own; under way when it begins."""
    text = f"dd if=$1/file bs=1M count={mib} iflag=direct status=none | cmp -n {mib * MIB} - {nas.export}/file"
    before = nas.sample().bytes
    reads = [
        subprocess.Popen(
            nas.shell.command(["bash", "-o", "pipefail", "-c", text, "bash", folder]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for folder in folders
    ]
    try:
        wait_for(lambda: nas.sample().bytes > before + len(folders) * MIB)
        yield reads
    finally:
        nas.shell.run(["pkill", "-x", "dd"], check=False)
        for read in reads:
            read.kill()
            read.communicate()


def read(mib: int) -> list[str]:
    return ["dd", f"if={FILE}", "of=/dev/null", "bs=1M", f"count={mib}", "iflag=direct"]


def most(wire: Wire, mbit: int) -> float:
    """The bytes that the link may carry in this time: a burst goes through first."""
    return 1.001 * mbit * BYTES_PER_S * wire.seconds + BURST_BYTES


def assert_busy(nas: NfsServer, mbit: int) -> None:
    """Skip, if it is this machine and not the link's limit that held up a read; fail, if it isn't."""
    nas.rate(None)
    with mounted(nas):
        ceiling = nas.measure_wire(read(16)).bytes_per_s
    assert ceiling < 2 * mbit * BYTES_PER_S, "the link could carry more, and its limit less"
    pytest.skip(f"this machine is too busy for {mbit} Mbit/s: without a limit it carries {ceiling / 1e6:.1f} MB/s")

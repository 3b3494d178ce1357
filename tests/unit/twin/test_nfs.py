"""The arithmetic of what a link carried, and what is asked of the guest; no machine runs."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from twin import nfs
from twin.errors import TwinError
from twin.nfs import NfsServer, Sample, Wire, steady
from twin.shell import File, Link

GUEST = Path(nfs.__file__).parent / "guest"
MIB = 2**20


class FakeShell:
    """Runs scripts of measuring and filling here, on this machine's own loopback; writes down the rest."""

    def __init__(self) -> None:
        self.files: dict[str, Any] = {}
        self.asked: list[str] = []

    def put(self, files: Mapping[str, Any]) -> None:
        self.files.update(files)

    def run(self, words: Sequence[str], **_: Any) -> Any:
        if words[0] != "sh":
            self.asked.append(" ".join(words))
            return SimpleNamespace(stdout=b"")
        here = [word.replace(f"/net/{nfs.LINK}/", "/net/lo/") for word in words]
        done = subprocess.run(here, capture_output=True)
        if done.returncode:
            raise TwinError(done.stderr.decode())
        return done

    def script(self, text: str, **_: Any) -> str:
        if "systemctl" in text or nfs.PROGRAM in text:
            self.asked.append(text)
            return ""
        return str(self.run(["sh", "-eu", "-c", text]).stdout.decode())


@pytest.fixture
def shell() -> FakeShell:
    return FakeShell()


@pytest.fixture
def nas(shell: FakeShell) -> NfsServer:
    machine: Any = SimpleNamespace(shell=shell)
    return NfsServer(machine)


def test_payload_is_what_headers_leave() -> None:
    wire = Wire.between(Sample(10.0, 1000, 5), Sample(12.0, 1000 + 3 * 1514, 8), b"said")
    assert (wire.bytes, wire.packets, wire.seconds, wire.output) == (4542, 3, 2.0, b"said")
    assert (wire.bytes_per_s, wire.payload_bytes, wire.payload_bytes_per_s) == (2271.0, 3 * 1448, 2172.0)


def test_the_steady_part_is_the_longest_one_without_its_ends() -> None:
    rates = [0, 50, 0, 30, 100, 100, 100, 40, 0, 90, 90, 0]
    samples = [Sample(0.0, 0, 0)]
    for rate in rates:
        samples.append(Sample(samples[-1].clock_s + 1, samples[-1].bytes + rate, samples[-1].packets + 1))
    assert steady(samples, above_bytes_per_s=20) == Wire(300, 3, 3.0)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_without_a_steady_part_there_is_no_figure(count: int) -> None:
    samples = [Sample(float(number), 100 * number, number) for number in range(count)]
    with pytest.raises(TwinError, match=r"^Too little went over the link"):
        steady(samples, above_bytes_per_s=20)


@pytest.mark.parametrize("said", ["", "one", "one\n", "one\n\ntwo\n\n"])
def test_what_a_measured_command_says_is_kept_as_it_is(nas: NfsServer, said: str) -> None:
    wire = nas.measure_wire(["printf", "%s", said])
    assert wire.output == said.encode()
    assert wire.bytes >= 0


def test_a_time_is_measured_by_the_clock_of_the_machine(nas: NfsServer) -> None:
    assert nas.measure_wire(0.05).seconds >= 0.04


def test_a_measured_command_that_fails_is_an_error(nas: NfsServer) -> None:
    with pytest.raises(TwinError, match="no-such-file"):
        nas.measure_wire(["cat", "no-such-file"])


def test_a_filled_file_has_no_block_twice(nas: NfsServer, tmp_path: Path) -> None:
    nas.export = str(tmp_path)
    assert nas.fill("a file", 25) == "/mnt/nas/a file"
    data = (tmp_path / "a file").read_bytes()
    assert len(data) == 25 * MIB
    assert len({data[place : place + 512] for place in range(0, len(data), 512)}) == len(data) // 512
    assert [path.name for path in tmp_path.iterdir()] == ["a file"]


def test_a_start_hands_over_program_and_settings_and_comes_back_at_boot(nas: NfsServer, shell: FakeShell) -> None:
    nas.start("/srv/my models", read_only=True, mbit=80)
    assert shell.files[nfs.CONFIG] == "EXPORT='/srv/my models'\nACCESS=ro\nMBIT=80\n"
    assert shell.files[nfs.PROGRAM] == File((GUEST / "nfs-server").read_bytes(), 0o755)
    assert shell.files[nfs.AT_BOOT] == Link("/etc/systemd/system/twin-nas.service")
    assert shell.asked == ["systemctl restart twin-nas.service"]


def test_no_rate_is_the_number_0(nas: NfsServer, shell: FakeShell) -> None:
    nas.start()
    assert "MBIT=0\n" in shell.files[nfs.CONFIG]
    nas.rate(40)
    nas.rate(None)
    assert [f"MBIT={mbit}/" in text for text, mbit in zip(shell.asked[1:], (40, 0), strict=True)] == [True, True]


def test_only_a_whole_known_rate_is_one(nas: NfsServer, shell: FakeShell) -> None:
    for mbit in (0, -1):
        with pytest.raises(ValueError, match="can't be a rate"):
            nas.rate(mbit)
        with pytest.raises(ValueError, match="can't be a rate"):
            nas.start(mbit=mbit)
    assert shell.asked == []

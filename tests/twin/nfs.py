"""Network storage: a kernel NFS server in a network namespace of the twin itself, behind a link of a known rate.

The link counts what went over it, as a cable would: that is the truth of a test, and the rate is only about it. What is
not payload of files are headers: Ethernet's, IP's and TCP's are 66 of a frame's 1514 bytes.
"""

from __future__ import annotations

import contextlib
import itertools
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from twin.errors import TwinError
from twin.shell import File, Link

if TYPE_CHECKING:
    from twin.machine import Machine
    from twin.shell import Shell

NAME = "nas"  # in the twin's /etc/hosts
EXPORT = "/srv/export"
FOLDER = "/mnt/nas"
LINK = "nas0"
RATES = (20, 40, 80, 160)
BURST_BYTES = 256 * 1024
HEADER_BYTES = 14 + 20 + 20 + 12  # Ethernet; IP; TCP and its time stamps
VERSIONS = ("3", "4.1", "4.2")
UNIT = "twin-nas.service"
PROGRAM = "/usr/local/sbin/twin-nas"
CONFIG = "/etc/twin-nas.conf"
AT_BOOT = f"/etc/systemd/system/multi-user.target.wants/{UNIT}"
START_LIMIT_S = 180.0
MIN_SAMPLES = 4  # of a steady stretch: both ends are left out

# Counters and clock belong together: they are read until the clock, which has 10 ms, has not moved in between.
_NOW = f"""
now() {{
    while
        read -r before _ < /proc/uptime
        read -r bytes < /sys/class/net/{LINK}/statistics/rx_bytes
        read -r packets < /sys/class/net/{LINK}/statistics/rx_packets
        read -r after _ < /proc/uptime
        [ "$before" != "$after" ]
    do :; done
    echo "$after $bytes $packets"
}}
"""
_MEASURE = f'{_NOW}now\n"$@"\necho\nnow'
_WATCH = f"{_NOW}while sleep 0.5; do now; done"

# 8 random MiB in which each copy begins at another byte: no block of the file is there twice, and it is quickly made.
_FILL = """
cd {export}
head -c 8388608 /dev/urandom > .seed
number=0
while [ $((number * 8)) -lt {mib} ]; do
    tail -c +$((number * 509 + 1)) .seed
    head -c $((number * 509)) .seed
    number=$((number + 1))
done | head -c {mib}M > {name}
rm .seed
"""


@dataclass(frozen=True)
class Sample:
    """What the client's end of the link had received by then, and the twin's own clock, which nobody sets."""

    clock_s: float
    bytes: int
    packets: int

    @staticmethod
    def of(line: str) -> Sample:
        clock, received, packets = line.split()
        return Sample(float(clock), int(received), int(packets))


@dataclass(frozen=True)
class Wire:
    """What went over the link to the client between two samples; ``output`` is what the command said meanwhile."""

    bytes: int
    packets: int
    seconds: float
    output: bytes = field(default=b"", repr=False)

    @staticmethod
    def between(first: Sample, last: Sample, output: bytes = b"") -> Wire:
        seconds = last.clock_s - first.clock_s
        return Wire(last.bytes - first.bytes, last.packets - first.packets, seconds, output)

    @property
    def bytes_per_s(self) -> float:
        return self.bytes / self.seconds

    @property
    def payload_bytes(self) -> int:
        """Without headers of packets. Of a read that's the file, and below 0.5 % of NFS's own words."""
        return self.bytes - HEADER_BYTES * self.packets

    @property
    def payload_bytes_per_s(self) -> float:
        return self.payload_bytes / self.seconds


class NfsServer:
    """The storage of one twin, which mounts it as ``nas:/srv/export``; it is there again after a reboot of the twin."""

    def __init__(self, machine: Machine) -> None:
        self.shell: Shell = machine.shell
        self.export = EXPORT

    def start(self, export: str = EXPORT, *, read_only: bool = False, mbit: int | None = None) -> None:
        """Serve the folder, which is made if it isn't there. A server that runs, or was stopped, starts anew."""
        self.export = export
        here = Path(__file__).parent / "guest"
        access = "ro" if read_only else "rw"
        self.shell.put(
            {
                PROGRAM: File((here / "nfs-server").read_bytes(), 0o755),
                f"/etc/systemd/system/{UNIT}": (here / "nfs-server.service").read_bytes(),
                AT_BOOT: Link(f"/etc/systemd/system/{UNIT}"),
                CONFIG: f"EXPORT={shlex.quote(export)}\nACCESS={access}\nMBIT={_number(mbit)}\n",
            }
        )
        self.shell.run(["systemctl", "restart", UNIT], limit_s=START_LIMIT_S)

    def start_again(self) -> None:
        """As it was before ``stop`` or ``kill``."""
        self.shell.run(["systemctl", "restart", UNIT], limit_s=START_LIMIT_S)

    def rate(self, mbit: int | None) -> None:
        """What the link carries from now on, in Mbit/s each way; None: what it can."""
        self.shell.script(f"sed -i 's/^MBIT=.*/MBIT={_number(mbit)}/' {CONFIG}; {PROGRAM} rate")

    def stop(self) -> None:
        """End the service: its host is still there, and refuses connections."""
        self.shell.run(["systemctl", "stop", UNIT])

    def kill(self) -> None:
        """Cut its power: nothing answers any more, and nobody is told."""
        self.shell.run([PROGRAM, "silence"])

    def remove(self) -> None:
        """Stop it and take its link away. The exported folder stays."""
        self.shell.script(f"systemctl stop {UNIT}; {PROGRAM} remove; rm {AT_BOOT}")

    def fill(self, name: str, mib: int) -> str:
        """Write a file of random bytes on the server; its path on the client, if that mounts it at ``FOLDER``."""
        words = {"export": shlex.quote(self.export), "name": shlex.quote(name), "mib": mib}
        self.shell.script(_FILL.format(**words), limit_s=60 + mib)
        return f"{FOLDER}/{name}"

    def mount(self, folder: str = FOLDER, *, version: str = "4.2", options: str = "hard") -> None:
        """Mount it on the twin, as root does by hand."""
        words = ["-t", "nfs", "-o", f"vers={version},{options}", f"{NAME}:{self.export}", folder]
        self.shell.script(f"mkdir -p {shlex.quote(folder)}; mount {shlex.join(words)}", limit_s=START_LIMIT_S)

    def unmount(self, folder: str = FOLDER) -> None:
        """Whether the server answers or not."""
        self.shell.run(["umount", "-f", "-l", folder])

    def sample(self) -> Sample:
        """What the client has received so far."""
        return Sample.of(self.shell.script(f"{_NOW}now"))

    def measure_wire(self, during: Sequence[str] | float) -> Wire:
        """What the client received while it ran these words, or within so many seconds. Raises TwinError if they fail.

        The time includes the start of the command.
        """
        words = ["sleep", str(during)] if isinstance(during, (int, float)) else list(during)
        done = self.shell.run(["sh", "-eu", "-c", _MEASURE, "sh", *words], limit_s=600)
        first, _, rest = done.stdout.partition(b"\n")
        output, _, last = rest.removesuffix(b"\n").rpartition(b"\n")
        return Wire.between(Sample.of(first.decode()), Sample.of(last.decode()), output)

    @contextlib.contextmanager
    def watched(self) -> Iterator[list[Sample]]:
        """Two samples a second; the list is filled at the end."""
        log = "/run/twin-nas.log"
        start = f"setsid sh -c {shlex.quote(_WATCH)} < /dev/null > {log} 2>&1 & echo $!"
        process = self.shell.script(start).strip()
        samples: list[Sample] = []
        try:
            yield samples
        finally:
            self.shell.run(["kill", process])
        samples += [Sample.of(line) for line in self.shell.read(log).decode("ascii").splitlines()]


def _number(mbit: int | None) -> int:
    if mbit is not None and mbit < 1:
        raise ValueError(f"{mbit} can't be a rate in Mbit/s")
    return mbit or 0


def steady(samples: Sequence[Sample], above_bytes_per_s: float) -> Wire:
    """Of the time in which more than that went over the link all along: its longest stretch, without both ends."""
    best: tuple[Sample, ...] = ()
    stretch: tuple[Sample, ...] = ()
    for first, last in itertools.pairwise(samples):
        if last.bytes - first.bytes > above_bytes_per_s * (last.clock_s - first.clock_s):
            stretch = (*(stretch or (first,)), last)
            best = max(best, stretch, key=len)
        else:
            stretch = ()
    if len(best) < MIN_SAMPLES:
        raise TwinError("Too little went over the link to the network storage to tell its rate.")
    return Wire.between(best[1], best[-2])

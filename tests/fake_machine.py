"""A machine made of files: /proc, /sys and /dev below a temporary root, for collecting evidence from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rerig_agent.evidence import collect_target
from rerig_agent.judge.classify import classify

NVME_PLACE = "pci0000:00/0000:00:1d.0/0000:03:00.0/nvme/nvme0/nvme0n1"
SATA_PLACE = "pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda"
STAT = "  100  0  800  10  0  0  0  0  0  10  10\n"
FILE_BYTES = 8192


class FakeMachine:
    """Builds the parts of a root that the agent reads. Device places are paths below /sys/devices."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._mounts: list[str] = []
        self._points: list[str] = []
        self.write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu sse2\n\n")
        self.mount("1:1", "/", "ext4", "/dev/none")

    def write(self, path: str, text: str) -> Path:
        """A file with this text, its folders included."""
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8", "surrogateescape"))
        return place

    def virtual(self) -> None:
        """Let the processor say that it is a virtual one."""
        self.write("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor sse2\n\n")

    def disk(self, place: str, dev: str, slaves: tuple[str, ...] = (), **files: str) -> str:
        """A whole block device; `files` maps names (`/` as two underscores) to texts. Returns its kernel name."""
        name = place.rsplit("/", 1)[-1]
        given = {
            "dev": dev,
            "size": "2000000",
            "stat": STAT.rstrip("\n"),
            "queue__rotational": "0",
            "queue__logical_block_size": "512",
            "queue__read_ahead_kb": "128",
            "queue__scheduler": "[none] mq-deadline",
            "queue__max_sectors_kb": "1280",
            "queue__iostats": "1",
            **files,
        }
        for file, text in given.items():
            self.write(f"/sys/devices/{place}/{file.replace('__', '/')}", text + "\n")
        for slave in slaves:
            self.write(f"/sys/devices/{place}/slaves/{slave}", "")
        self._link(f"/sys/class/block/{name}", f"/sys/devices/{place}")
        self._link(f"/sys/dev/block/{dev}", f"/sys/devices/{place}")
        return name

    def partition(self, disk_place: str, name: str, dev: str) -> str:
        """A partition inside a disk's folder. Returns its kernel name."""
        place = f"{disk_place}/{name}"
        for file, text in {"dev": dev, "size": "1000000", "stat": STAT.rstrip("\n"), "partition": "1"}.items():
            self.write(f"/sys/devices/{place}/{file}", text + "\n")
        self._link(f"/sys/class/block/{name}", f"/sys/devices/{place}")
        self._link(f"/sys/dev/block/{dev}", f"/sys/devices/{place}")
        return name

    def nvme(self, dev: str = "259:0", place: str = NVME_PLACE, **files: str) -> str:
        """An NVMe drive with a controller on a PCIe link."""
        name = self.disk(place, dev, **files)
        controller = place.rsplit("/", 1)[0]
        pci = controller.rsplit("/nvme/", 1)[0]
        for file, text in {"model": "Some SSD 2TB   ", "transport": "pcie", "serial": "S3CR3TSERIAL"}.items():
            self.write(f"/sys/devices/{controller}/{file}", text + "\n")
        link = {
            "vendor": "0x144d",
            "current_link_speed": "16.0 GT/s PCIe",
            "current_link_width": "4",
            "max_link_speed": "16.0 GT/s PCIe",
            "max_link_width": "4",
        }
        for file, text in link.items():
            self.write(f"/sys/devices/{pci}/{file}", text + "\n")
        self._link(f"/sys/devices/{place}/device", f"/sys/devices/{controller}")
        self._link(f"/sys/devices/{controller}/device", f"/sys/devices/{pci}")
        return name

    def mount(self, dev: str, point: str, fs_type: str, source: str, options: str = "rw", root: str = "/") -> None:
        """One line of mountinfo more, with the kernel's octal escapes; later ones lie over earlier ones."""
        number = 20 + len(self._mounts)
        below = [
            index for index, earlier in enumerate(self._points) if f"{point}/".startswith(earlier.rstrip("/") + "/")
        ]
        self._points.append(point)
        parent = 20 + max(below) if below else 1
        place, device, shown = _escaped(point), _escaped(source), _escaped(options)
        line = f"{number} {parent} {dev} {_escaped(root)} {place} rw,relatime - {fs_type} {device} {shown}"
        self._mounts.append(line + "\n")
        self.write("/proc/self/mountinfo", "".join(self._mounts))
        (self.root / point.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def file(self, path: str, size_bytes: int = FILE_BYTES) -> str:
        """A file without holes."""
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(os.urandom(size_bytes))
        return path

    def collect(self, path: str) -> dict[str, Any]:
        """The evidence of a file of this machine."""
        return collect_target(path, root=self.root)

    def classify(self, path: str) -> dict[str, Any]:
        """The judgement of that evidence."""
        return classify(self.collect(path))

    def _link(self, link: str, target: str) -> None:
        place = self.root / link.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.path.relpath(self.root / target.lstrip("/"), place.parent))


def _escaped(text: str) -> str:
    for sign in "\\ \t\n":
        text = text.replace(sign, f"\\{ord(sign):03o}") if sign != "\\" else text.replace("\\", "\\134")
    return text

"""extlinux.conf: what the default entry starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from rerig_agent.parse import ParseError
from rerig_agent.parse.extlinux import parse_extlinux

LINES = (Path(__file__).resolve().parents[3] / "fixtures" / "l4t" / "extlinux_lines.txt").read_text("utf-8")
DTB = "/boot/dtb/kernel_tegra234-p3768-0000+p3767-0005-nv-super.dtb"
CONF = f"""TIMEOUT 30
DEFAULT primary

MENU TITLE L4T boot options

LABEL primary
      MENU LABEL primary kernel
      LINUX /boot/Image
      INITRD /boot/initrd
{LINES}
# LABEL backup
LABEL backup
      LINUX /boot/Image.backup
      FDT /boot/dtb/other.dtb
      APPEND ${{cbootargs}} root=/dev/mmcblk0p1 rw
"""


def test_the_default_entry_s_lines_are_read() -> None:
    found = parse_extlinux(CONF)
    assert (found["default"], found["labels"], found["fdt"]) == ("primary", ["primary", "backup"], DTB)
    assert (found["linux"], found["initrd"]) == ("/boot/Image", "/boot/initrd")
    assert found["append"].startswith("${cbootargs} root=PARTUUID=")
    assert found["append"].endswith(" console=tty0")
    assert parse_extlinux(CONF.replace("\n", "\r\n")) == found


def test_another_default_is_another_entry() -> None:
    found = parse_extlinux(CONF.replace("DEFAULT primary", "default backup"))
    assert (found["fdt"], found["initrd"], found["root"]) == ("/boot/dtb/other.dtb", None, "/dev/mmcblk0p1")


def test_without_a_default_the_first_entry_is_started_and_what_it_lacks_is_none() -> None:
    found = parse_extlinux("LABEL one\n\tLINUX /boot/Image\n\tAPPEND quiet noroot=1\nLABEL two\n\tFDT /x\n")
    assert (found["default"], found["fdt"], found["root"]) == ("one", None, None)
    assert parse_extlinux("LABEL one\n")["append"] is None
    assert parse_extlinux("LABEL one\nAPPEND rw root=/dev/nvme0n1p1")["root"] == "/dev/nvme0n1p1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0" * 4096,
        LINES,
        "DEFAULT primary\n",
        CONF.replace("DEFAULT primary", "DEFAULT rescue"),
        CONF.replace("LABEL backup\n", "LABEL primary\n", 2),
        CONF.replace("LABEL primary", "LABEL"),
        CONF.replace("LABEL primary", "LABEL primary kernel"),
        CONF.replace(DTB, "kernel.dtb"),
        CONF.replace(DTB, "/boot/\u0661.dtb"),
        CONF.replace("      INITRD", "      FDT /boot/dtb/first.dtb\n      INITRD"),
        CONF + "\0",
        CONF + "#" * 10_000_000,
    ],
    ids=lambda text: str(len(text)),
)
def test_torn_and_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_extlinux(text)

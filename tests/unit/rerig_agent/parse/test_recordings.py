"""Whatever was recorded of a board is readable: the project's own recordings, and those of the folder RERIG_SAMPLES.

A file's name says what it is. People record with the command above, with a Windows editor's line ends, with blanks at
the end of lines; each recording is read in all of these dresses too, with the same result.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Callable

import pytest

from rerig_agent.parse.jetson_clocks import parse_show
from rerig_agent.parse.nv_boot_control import parse_boot_control, parse_spec
from rerig_agent.parse.nv_tegra_release import parse_release
from rerig_agent.parse.nvbootctrl import parse_slots
from rerig_agent.parse.nvpmodel import parse_query, parse_query_verbose
from rerig_agent.parse.nvpmodel_conf import parse_conf
from rerig_agent.parse.tegrastats import parse_lines
from rerig_agent.parse.usb_ids import parse_lsusb

OWN = Path(__file__).resolve().parents[3] / "fixtures" / "l4t"
SAMPLES = os.environ.get("RERIG_SAMPLES")


def read_query(text: str) -> Any:
    found = parse_query(text)
    assert f"NV Power Mode: {found['name']}" in text
    return found


def read_query_verbose(text: str) -> Any:
    found = parse_query_verbose(text)
    assert len(found) == text.count("REAL_VAL: ")
    return found, read_query(text) if re.search(r"NV Power Mode: \w+\s+[0-9]", text) else None


def read_tegrastats(text: str) -> Any:
    found = parse_lines(text)
    assert len(found) == len(re.findall(r"^[-0-9: ]*RAM [0-9]", text, re.MULTILINE))
    assert all(line["cpus"] for line in found)
    return found


def read_clocks(text: str) -> Any:
    found = parse_show(text)
    assert len(found["cpus"]) == len(re.findall(r"^ *cpu[0-9]", text, re.MULTILINE))
    return found


def read_release(text: str) -> Any:
    found = parse_release(text)
    assert f"R{found['major']} (release), REVISION: {found['version'].partition('.')[2]}" in text
    return found


def read_boot_control(text: str) -> Any:
    found = parse_boot_control(text)
    return found, [parse_spec(found[name]) for name in ("TNSPEC", "COMPATIBLE_SPEC") if name in found]


def read_conf(text: str) -> Any:
    found = parse_conf(text)
    assert len(found["models"]) == len(re.findall(r"^ *< *POWER_MODEL", text, re.MULTILINE))
    return found


READERS: dict[str, Callable[[str], Any]] = {
    "nvpmodel_query_verbose*.txt": read_query_verbose,
    "nvpmodel_query*.txt": read_query,
    "nvpmodel*.conf": read_conf,
    "nvbootctrl*.txt": parse_slots,
    "slots*.txt": parse_slots,
    "tegrastats*.txt": read_tegrastats,
    "jetson_clocks*.txt": read_clocks,
    "nv_tegra_release*.txt": read_release,
    "release*.txt": read_release,
    "nv_boot_control*.txt": read_boot_control,
    "boot_control*.txt": read_boot_control,
    "lsusb*.txt": parse_lsusb,
}
DRESSES: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "with carriage returns": lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
    "with blanks at the ends": lambda text: text.replace("\n", " \t\n"),
    "below its command": lambda text: f"$ sudo some-tool -q\n{text}",
    "below its command at a prompt": lambda text: f"user@board:~$ sudo some-tool -q\n{text}\n",
}


def recordings() -> list[Any]:
    """Each recording with its reader; the first pattern that its name matches counts."""
    found = []
    for folder in [OWN, *([Path(SAMPLES)] if SAMPLES else [])]:
        for path in sorted(folder.rglob("*.*")):
            reader = next((read for pattern, read in READERS.items() if path.match(pattern)), None)
            if reader:
                found.append(pytest.param(path, reader, id=path.name))
    return found


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize(("path", "reader"), recordings())
def test_a_recording_is_read_in_every_dress(path: Path, reader: Callable[[str], Any], dress: str) -> None:
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    assert reader(DRESSES[dress](text)) == reader(text)

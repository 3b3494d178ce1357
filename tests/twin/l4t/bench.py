"""A board in a folder: the stand-ins run on any machine, on any Python, without root, on files below that folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from twin.l4t import content
from twin.l4t.values import Personality

NVPMODEL, JETSON_CLOCKS, TEGRASTATS = "/usr/sbin/nvpmodel", "/usr/bin/jetson_clocks", "/usr/bin/tegrastats"
NVBOOTCTRL, NVFANCONTROL = "/usr/sbin/nvbootctrl", "/usr/sbin/nvfancontrol"
NVPOWER = "/etc/systemd/nvpower.sh"
STAGE_CAPSULE = "/usr/sbin/nv_bootloader_capsule_updater.sh"
BOOTLOADER_CONFIG = "/opt/nvidia/l4t-bootloader-config/nv-l4t-bootloader-config.sh"
POSTINST = "/var/lib/dpkg/info/nvidia-l4t-bootloader.postinst"

# Starting Python is most of what a tool costs, and the order of a boot is always the same.
IN_ONE_PROCESS = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
for module, function, words in json.loads(sys.argv[2]):
    getattr(importlib.import_module("twin_l4t." + module), function)(words)
"""


class Bench:
    """``root`` is the folder; the board is set up and booted."""

    def __init__(self, root: Path, personality: Personality, pattern: Bench | None = None) -> None:
        """``pattern``: the same board in another folder, to be copied, which is faster."""
        root.mkdir(exist_ok=True)
        self.root, self.personality = root, personality
        if pattern:
            subprocess.run(["cp", "-a", f"{pattern.root}/.", str(root)], check=True)
        else:
            self.change(personality)

    def change(self, personality: Personality) -> None:
        """Another board in the same folder, as :func:`twin.l4t.layer.apply` does it."""
        self.personality = personality
        content.write_below(content.library(), self.root)
        content.write_below(content.board_file(personality), self.root)
        content.write_below(content.staged(content.personality_files(personality)), self.root)
        self._boot((content.PROGRAM, "install"))

    def boot(self) -> None:
        """Power on, and what the units do at boot."""
        self._boot()

    def _boot(self, *first: Sequence[str]) -> None:
        calls = [
            *first,
            (content.PROGRAM, "boot"),
            *([(NVPOWER,)] if self.personality.nvpower else []),
            (NVPMODEL, "-f", "/etc/nvpmodel.conf"),
            (BOOTLOADER_CONFIG, "-v"),
        ]
        todo = [(*content.FUNCTIONS[tool].split(":"), words) for tool, *words in calls]
        library = str(self.path(content.LIBRARY))
        finished = subprocess.run(
            [sys.executable, "-I", "-S", "-c", IN_ONE_PROCESS, library, json.dumps(todo)],
            env=self.environment(),
            capture_output=True,
            encoding="utf-8",
        )
        assert finished.returncode == 0, finished.stderr

    def run(self, tool: str, *words: str, input: str = "", uid: int = 0) -> subprocess.CompletedProcess[str]:
        """The tool with its words; ``input`` is its whole standard input."""
        return subprocess.run(
            self.argv(tool, *words),
            env=self.environment(uid),
            input=input,
            capture_output=True,
            encoding="utf-8",
        )

    def done(self, tool: str, *words: str, input: str = "") -> str:
        """The output of a tool that must succeed."""
        finished = self.run(tool, *words, input=input)
        assert finished.returncode == 0, finished.stderr or finished.stdout
        return finished.stdout

    def argv(self, tool: str, *words: str) -> list[str]:
        return [sys.executable, "-I", "-S", str(self.path(tool)), *words]

    def environment(self, uid: int = 0) -> Mapping[str, str]:
        return {"TWIN_L4T_ROOT": str(self.root), "TWIN_L4T_UID": str(uid), "HOME": "/root", "PATH": os.defpath}

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def read(self, name: str) -> str:
        return self.path(name).read_text("utf-8")

    def word(self, name: str) -> str:
        return self.read(name).strip()

"""Plays of this clone's playbooks as a user starts them, in a directory and with a home of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 600
# The measuring itself on this machine; a launcher would make an environment for users first.
LAUNCHER = [sys.executable, "-I", "-m", "rerig"]
LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}


@dataclass(frozen=True)
class Played:
    """What a play printed, and its exit status."""

    output: str
    status: int

    def recap(self, host: str = "box") -> dict[str, int]:
        """Ansible's closing counts for a host."""
        line = re.search(rf"^{re.escape(host)} +: (.*)$", self.output, re.MULTILINE)
        assert line, self.output
        return {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", line[1])}

    def said(self, kind: str, host: str = "box") -> list[dict[str, Any]]:
        """What was shown with ``ok``, ``changed``, ``fatal`` … for a host, each with its values."""
        found = re.findall(rf"^{kind}: \[{re.escape(host)}\].*?=>.*\n((?: +.*\n)+)", self.output, re.MULTILINE)
        return [yaml.safe_load(block) for block in found]

    def failure(self, host: str = "box") -> str:
        """The sentence with which the play ended on a host."""
        assert self.status != 0, self.output
        fatal = self.said("fatal", host)
        assert fatal, self.output
        return " ".join(str(fatal[-1]["msg"]).split())

    def results(self, host: str = "box") -> list[Path]:
        """The last ``measure_results`` that was shown."""
        shown = [one["measure_results"] for one in self.said("ok", host) if one and "measure_results" in one]
        assert shown, self.output
        return [Path(path) for path in shown[-1]]


@dataclass
class Controller:
    """The user at the controller: ``directory`` is where Ansible is started; ``hosts`` is the inventory."""

    directory: Path
    path: str
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    launcher: Sequence[str] = tuple(LAUNCHER)
    clone: Path = ROOT

    def __post_init__(self) -> None:
        for folder in (self.home, self.tmp):
            folder.mkdir(parents=True)

    @property
    def home(self) -> Path:
        return self.directory / "home"

    @property
    def tmp(self) -> Path:
        """Where temporary folders are made on the controller, and by hosts that are this machine."""
        return self.directory / "tmp"

    def argv(self, playbook: str | Path, *flags: str, **extra: Any) -> list[str]:
        """The command; ``extra`` are variables that override all others."""
        inventory = self.directory / "hosts.json"
        inventory.write_text(json.dumps({"all": {"hosts": self.hosts}}), "utf-8")
        inventory.chmod(0o644)
        variables = json.dumps({"__measure_inv": list(self.launcher), **extra})
        path = playbook if isinstance(playbook, Path) else self.clone / "playbooks" / playbook
        words = ["--inventory", str(inventory), "--extra-vars", variables, *flags]
        return [sys.executable, "-m", "ansible", "playbook", *words, str(path)]

    def environment(self) -> dict[str, str]:
        """Ansible's own."""
        return {
            "PATH": self.path,
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.home),
            "TMPDIR": str(self.tmp),
            "ANSIBLE_CONFIG": str(self.clone / "ansible.cfg"),
            "ANSIBLE_HOME": str(self.directory / "ansible"),
            "ANSIBLE_FORKS": "10",
        }

    def play(self, playbook: str | Path, *flags: str, **extra: Any) -> Played:
        """Play to the end."""
        return Playing(self, self.argv(playbook, *flags, **extra)).end()

    def start(self, playbook: str | Path, *flags: str, **extra: Any) -> Playing:
        """Begin to play, and return at once."""
        return Playing(self, self.argv(playbook, *flags, **extra))


class Playing:
    """A play that goes on."""

    def __init__(self, controller: Controller, argv: list[str]) -> None:
        self._log = controller.directory / "play.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                argv,
                cwd=controller.directory,
                env=controller.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def output(self) -> str:
        """What it has printed so far."""
        return self._log.read_text("utf-8", "replace")

    def end(self) -> Played:
        """Wait for its end."""
        try:
            status = self.process.wait(LIMIT_S)
        finally:
            self.process.kill()
            self.process.wait()
        return Played(self.output(), status)


def stub(folder: Path, name: str, script: str) -> Path:
    """A program in a folder for PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}", "utf-8")
    program.chmod(0o755)
    return program


def path_before(folder: Path, path: str) -> str:
    """``path`` with ``folder`` first."""
    return f"{folder}{os.pathsep}{path}"

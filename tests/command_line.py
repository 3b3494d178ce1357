"""Running rerig as a user does: its own directory, any PATH, a foreign locale."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT_S = 300


@dataclass
class Cli:
    """The command line in ``directory``; ``environment`` decides whether it finds fio."""

    directory: Path
    environment: dict[str, str]

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-I", "-m", "rerig", *words]

    def run(self, *words: str, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run to the end; the exit status must be ``status`` (None: any)."""
        done = subprocess.run(
            self.argv(*words),
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=LIMIT_S,
        )
        assert status is None or done.returncode == status, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start it and return at once."""
        return subprocess.Popen(
            self.argv(*words),
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def result(self, *words: str) -> dict[str, Any]:
        """The result that ``rerun`` with these words gives."""
        path = self.run("rerun", "--quiet", *words).stdout.strip().splitlines()[-1]
        document: dict[str, Any] = json.loads((self.directory / path).read_text(encoding="utf-8"))
        return document


def path_without_fio() -> str:
    """The PATH without the folders that hold a fio; dd and python stay, wherever they are."""
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not (Path(folder) / "fio").exists())


def environment(path: str) -> dict[str, str]:
    return {**os.environ, "PATH": path, "LANGUAGE": "ko", "LC_ALL": "C.UTF-8", "COLUMNS": "160"}


def cli_with_fio(directory: Path, fio_folder: Path) -> Cli:
    """rerig on a machine with that fio, wherever the system's own is."""
    return Cli(directory, environment(f"{fio_folder}{os.pathsep}{path_without_fio()}"))

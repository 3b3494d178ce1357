"""Small files of a run: written whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def write_json(path: Path, data: Any) -> None:
    """Write ``data`` as JSON beside ``path`` and rename it there; ASCII only, so that any file name survives."""
    temporary = path.with_name(path.name + ".new")
    with temporary.open("w", encoding="ascii") as file:
        json.dump(data, file, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)

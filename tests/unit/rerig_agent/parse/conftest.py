"""Cases from files: tests/fixtures/FOLDER/NAME.txt is what a tool printed, NAME.json what is right.

NAME.json: {"parser": function of the tested module, "gives": the right values or "refused": true}, and what else a
module's own tests read. "gives" holds as much as matters: of an object the keys it names, of a list every item.
A test that takes ``case`` runs for every case of its module's FOLDER (and PARSERS, if it says which), so that adding
a case is adding two files.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import pytest

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"


@dataclass(frozen=True)
class Case:
    """One output and what is right about it."""

    name: str
    text: str
    right: dict[str, Any]


def read_text(path: Path) -> str:
    # Not read_text: carriage returns matter.
    return path.read_bytes().decode("utf-8", "surrogateescape")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" not in metafunc.fixturenames:
        return
    folder = FIXTURES / metafunc.module.FOLDER
    wanted = getattr(metafunc.function, "needs", "parser")
    cases = [
        Case(path.stem, read_text(path.with_suffix(".txt")), json.loads(path.read_text("utf-8")))
        for path in sorted(folder.glob("*.json"))
    ]
    chosen = [case for case in cases if wanted in case.right]
    assert chosen, f"no case in {folder}"
    metafunc.parametrize("case", chosen, ids=[case.name for case in chosen])


@pytest.fixture
def sample() -> Callable[[str], str]:
    """Reads one of the shared samples of real outputs."""
    folder = os.environ.get("RERIG_SAMPLES")
    if not folder:
        pytest.skip("RERIG_SAMPLES names no folder of real outputs")
    return lambda name: read_text(Path(folder or "") / name)


@pytest.fixture
def agree() -> Callable[[Any, Any], None]:
    """Assert that a value holds everything that is right, with floats as exact as they are printed."""
    return _agree


def _agree(value: Any, right: Any, where: str = "") -> None:
    if isinstance(right, dict):
        for key, expected in right.items():
            assert key in value, f"{where}.{key} is missing"
            _agree(value[key], expected, f"{where}.{key}")
    elif isinstance(right, list):
        assert len(value) == len(right), where
        for index, expected in enumerate(right):
            _agree(value[index], expected, f"{where}[{index}]")
    elif isinstance(right, float):
        assert value == pytest.approx(right, rel=1e-9), where
    else:
        assert value == right, where
        assert isinstance(value, bool) == isinstance(right, bool), where

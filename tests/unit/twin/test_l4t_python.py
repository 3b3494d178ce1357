"""What runs inside the twin is for a board's own Python: 3.8 and up, and nothing but the standard library."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable

import pytest

from rerig.upkeep.pythons import find_pythons
from twin.l4t import content
from twin.l4t.bench import NVPMODEL, Bench
from twin.l4t.personalities import SUPER
from twin.l4t.values import Personality

MODULES = sorted(content.GUEST.glob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_is_python_3_8_and_the_standard_library(path: object) -> None:
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 8))  # type: ignore[attr-defined] # a Path
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    assert {name.partition(".")[0] for name in names} <= set(sys.stdlib_module_names) | {"__future__"}


def test_the_oldest_python_runs_the_tools(make_bench: Callable[[Personality], Bench]) -> None:
    pythons = find_pythons().values()
    if not pythons:
        pytest.skip("this machine has no Python but the one of the tests")
    oldest = min(pythons, key=lambda one: tuple(map(int, one.version.split(".")))).program
    bench = make_bench(SUPER)
    _, *words = bench.argv(NVPMODEL, "-q", "--verbose")
    finished = subprocess.run([oldest, *words], env=bench.environment(), capture_output=True, encoding="utf-8")
    assert finished.stdout == bench.done(NVPMODEL, "-q", "--verbose")
    modules = ", ".join(f"twin_l4t.{path.stem}" for path in MODULES if path.stem != "__init__")
    source = f"import sys; sys.path.insert(0, {str(bench.path(content.LIBRARY))!r}); import {modules}"
    assert subprocess.run([oldest, "-IS", "-c", source]).returncode == 0


def test_every_program_starts_where_a_board_has_it(make_bench: Callable[[Personality], Bench]) -> None:
    bench = make_bench(SUPER)
    for tool in content.FUNCTIONS:
        assert bench.path(tool).stat().st_mode & 0o111, tool
        assert bench.read(tool).startswith("#!/usr/bin/python3 -IS\n")

"""Finds and reads suites: YAML files that say what to measure."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerig.documents import decode, read_bytes, shown
from rerig.errors import UserError
from rerig.schema import structure_problem, validate_or_raise, version_problem
from rerig.text import bounded, printable

if TYPE_CHECKING:
    import yaml

SUITES = Path(__file__).resolve().parents[2] / "suites"
# PyYAML reads some 100 kB a second; a suite of 100 cases has 20 kB.
MAX_BYTES = 100_000


def suite_names() -> list[str]:
    """The names of the suites that come with rerig."""
    return sorted(path.stem for path in SUITES.glob("*.yml"))


def load_suite(name_or_path: str) -> dict[str, Any]:
    """The validated suite, and in ``sha256`` that of its file's bytes (which a result keeps).

    A name is looked up in ``suites/``; what has a slash in it or ends in .yml or .yaml is a path. Raises
    UserError with one sentence; for an unknown name it lists the known ones.
    """
    path = _suite_path(name_or_path)
    name = shown(path)
    data = read_bytes(path, MAX_BYTES)
    suite = _parse(decode(data, name), name)
    if not isinstance(suite, dict):
        raise UserError(f"{name} is not a suite: it must be a mapping with format, name and cases.")
    structure = structure_problem(suite)
    if structure:
        raise UserError(f"{name} can't be used: {printable(bounded(structure, 200))}.")
    version = version_problem(suite)
    if version:
        raise UserError(f"{name} {version}.")
    if suite["format"] != "rerig-suite":
        raise UserError(f"{name} is a {suite['format']}, but a rerig-suite is needed here.")
    validate_or_raise(suite, name)
    return {**suite, "sha256": hashlib.sha256(data).hexdigest()}


def _suite_path(name_or_path: str) -> Path:
    if "/" in name_or_path or name_or_path.endswith((".yml", ".yaml")):
        return Path(name_or_path)
    if name_or_path not in suite_names():
        known = ", ".join(suite_names())
        raise UserError(f"There is no suite {shown(name_or_path)}; known are {known} (or give a path to a .yml file).")
    return SUITES / f"{name_or_path}.yml"


def _parse(text: str, name: str) -> object:
    import yaml

    try:
        return yaml.load(text, Loader=_strict_loader())  # noqa: S506 - a SafeLoader that refuses more
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" at line {mark.line + 1}" if mark else ""
        problem = printable(bounded(str(error.problem or error.context), 200))
        raise UserError(f"{name} is not usable YAML: {problem}{where}.") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: such as the date 2026-02-31
        raise UserError(f"{name} is not usable YAML: {printable(bounded(str(error), 200))}.") from None
    except RecursionError:
        raise UserError(f"{name} is nested too deeply to be a suite.") from None


def _strict_loader() -> type[yaml.SafeLoader]:
    """A SafeLoader without aliases (a few of them can stand for billions of values) and repeated keys."""
    import yaml

    class StrictLoader(yaml.SafeLoader):
        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):
                mark = self.get_event().start_mark  # type: ignore[no-untyped-call]  # untyped in types-PyYAML
                raise yaml.composer.ComposerError(None, None, "aliases (*name) are not allowed", mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            seen = set()
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    continue  # PyYAML itself refuses a list or mapping as a key
                if (key.tag, key.value) in seen:
                    problem = f"the key {key.value!r} stands twice"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add((key.tag, key.value))
            return super().construct_mapping(node, deep)

    return StrictLoader

"""The rules of the house that no linter knows: who imports whom, how long things get, what no text may hold."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src"
AGENT = SOURCES / "rerig_agent"
CONTROLLER = SOURCES / "rerig"

MODULE_LINES = 300
ROLE_TASK_LINES = 60
COMPOSITION_LINES = 60  # tasks.py, exclusive
LAUNCHER_LINES = 80  # inv, exclusive

# Right may never import left; what is in no layer is the last one, the plain functions over documents.
LAYERS = (
    {"__main__", "cli", "program"},
    {"tasks"},
    # what a verb of the command line does from its words to what it prints, on this machine and on others
    {"pickup", "local_run", "fleet_run", "fleet_report", "fleet", "meeting", "known_runs", "run_list", "run_keeping"}
    | {"handing", "upkeep", "verify"},
    {"rerun"},
    {"provision", "restore", "runner", "remote", "store", "report"},
)
# What the controller may use of the agent: text in, data out, and the judges, which exist only once.
PURE_AGENT = ("parse", "judge", "plan_format")
SINGLE_FUNCTIONS = {"conditions": {"summarize"}, "journal": {"read_journal"}}
NO_SUBJECT = {"util", "utils", "helper", "helpers", "common", "misc", "shared", "stuff", "tools_", "base", "lib"}


def modules(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCES).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Each imported module's absolute name, with its line; ``from package import module`` gives package.module too."""
    package = module_name(path).split(".") if path.is_relative_to(SOURCES) else []
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *filter(None, [node.module])])
            yield base, node.lineno
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)


def offences(paths: list[Path], wrong: object) -> list[str]:
    assert callable(wrong)
    return [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in paths
        for name, line in imports(path)
        if wrong(path, name)
    ]


def layer(name: str) -> int:
    """How far right a module of rerig stands: it may import what has its own number or a higher one."""
    part = name.split(".")[1] if "." in name else ""
    return next((number for number, parts in enumerate(LAYERS) if part in parts), len(LAYERS))


def test_the_walk_finds_imports() -> None:
    found = {name for name, _ in imports(CONTROLLER / "cli.py")}
    assert {"rerig.errors", "rerig.program", "sys"} <= found


def test_the_agent_imports_the_standard_library_and_itself_alone() -> None:
    def wrong(path: Path, name: str) -> bool:
        top = name.partition(".")[0]
        return top != "rerig_agent" and top not in sys.stdlib_module_names

    assert offences(modules(AGENT), wrong) == []


def test_the_agent_imports_itself_relatively() -> None:
    """``ansible.module_utils`` and the archive find it under another name."""
    absolute = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in modules(AGENT)
        for node in ast.walk(parsed(path))
        if (isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").startswith("rerig"))
        or (isinstance(node, ast.Import) and any(alias.name.startswith("rerig") for alias in node.names))
    ]
    assert absolute == []


@pytest.mark.parametrize(("folder", "allowed"), [("parse", ("parse",)), ("judge", ("parse", "judge"))])
def test_parsers_and_judges_work_on_data_and_nothing_else(folder: str, allowed: tuple[str, ...]) -> None:
    forbidden = {"subprocess", "pathlib", "io", "socket", "tempfile", "shutil", "time"}

    def wrong(path: Path, name: str) -> bool:
        package, _, module = name.partition(".")
        return name in forbidden or (package == "rerig_agent" and module.split(".")[0] not in ("", *allowed))

    assert offences(modules(AGENT / folder), wrong) == []
    opened = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in modules(AGENT / folder)
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open"
    ]
    assert opened == []


def test_the_controller_uses_only_the_pure_parts_of_the_agent() -> None:
    def wrong(path: Path, name: str) -> bool:
        package, _, rest = name.partition(".")
        module, _, function = rest.partition(".")
        if package != "rerig_agent" or module in {"", "VERSION", *PURE_AGENT}:
            return False
        return module not in SINGLE_FUNCTIONS or function not in {"", *SINGLE_FUNCTIONS[module]}

    assert offences(modules(CONTROLLER), wrong) == []


def test_imports_point_from_the_command_line_towards_the_parsers() -> None:
    def wrong(path: Path, name: str) -> bool:
        if not name.startswith("rerig."):
            return False
        mine, theirs = layer(module_name(path)), layer(name)
        asks_for_words = name.startswith("rerig.program") and mine == 1  # a task reads what followed --
        return theirs < mine and not asks_for_words

    assert offences(modules(CONTROLLER), wrong) == []


def test_nothing_imports_tests() -> None:
    def wrong(path: Path, name: str) -> bool:
        return name.partition(".")[0] in {"tests", "conftest", "pytest", "hypothesis"}

    assert offences([*modules(SOURCES), ROOT / "tasks.py"], wrong) == []


def test_nothing_goes_through_a_shell_or_an_evaluator() -> None:
    names = {"eval", "exec", "compile", "__import__"}
    starters = {"run", "Popen", "call", "check_call", "check_output", "sudo", "local"}
    attributes = {("os", "system"), ("os", "popen"), ("subprocess", "getoutput"), ("subprocess", "getstatusoutput")}
    found = []
    for path in [*modules(SOURCES), *modules(ROOT / "tests"), ROOT / "tasks.py"]:
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            by_shell = called in starters and any(
                word.arg == "shell" and not (isinstance(word.value, ast.Constant) and not word.value.value)
                for word in node.keywords
            )
            named = isinstance(node.func, ast.Name) and node.func.id in names
            attribute = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
            if attribute and (node.func.value.id, node.func.attr) in attributes:  # type: ignore[attr-defined] # checked above
                named = True
            if by_shell or named:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


@pytest.mark.parametrize(
    ("paths", "longest"),
    [
        pytest.param(modules(SOURCES), MODULE_LINES, id="modules"),
        pytest.param(sorted(ROOT.glob("roles/*/tasks/*.yml")), ROLE_TASK_LINES, id="role tasks"),
        pytest.param([ROOT / "tasks.py"], COMPOSITION_LINES - 1, id="tasks.py"),
        pytest.param([ROOT / "inv"], LAUNCHER_LINES - 1, id="inv"),
    ],
)
def test_nothing_grows_too_long(paths: list[Path], longest: int) -> None:
    assert paths
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in paths}
    assert {name: lines for name, lines in lengths.items() if lines > longest} == {}


def test_every_module_says_what_it_is_about() -> None:
    assert [str(path.relative_to(ROOT)) for path in modules(SOURCES) if not ast.get_docstring(parsed(path))] == []


def test_every_module_has_a_subject() -> None:
    files = [*modules(SOURCES), *modules(ROOT / "tests"), *ROOT.glob("roles/**/*.yml"), *ROOT.glob("playbooks/*.yml")]
    assert [str(path) for path in files if path.stem.removeprefix("test_").rstrip("_") in NO_SUBJECT] == []


def test_composition_defines_nothing_of_its_own() -> None:
    nodes = list(ast.walk(parsed(ROOT / "tasks.py")))
    assert not [node for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda)]


def tracked_texts() -> list[tuple[str, str]]:
    """Every text file that git tracks (or would), by name."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    texts = []
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        if b"\0" not in data:
            texts.append((name, data.decode("utf-8", "replace")))
    return texts


# Written in pieces, so that this file does not match itself.
REGISTRIES = tuple("".join(pieces) for pieces in (
    ("py", "pi.org"), ("python", "hosted"), ("npm", "js"), ("debian", ".org"), ("ubuntu", ".com"), ("crates", ".io")
))  # fmt: skip
PLACE = re.compile(r"(?<![\w.$}/-])/(?:work/(?:main|shared)|root/\.py" + r"env|opt/wheels|opt/py" + r"pi|tmp/v)/")


@pytest.mark.parametrize("host", REGISTRIES)
def test_no_text_names_a_registrys_host(host: str) -> None:
    assert [name for name, text in tracked_texts() if host in text.lower()] == []


def test_no_text_names_a_folder_of_some_machine() -> None:
    assert [f"{name}: {match[0]}" for name, text in tracked_texts() for match in PLACE.finditer(text)] == []


def test_the_pattern_for_folders_finds_what_it_is_for() -> None:
    assert PLACE.search("see /wo" + "rk/main/x")
    assert PLACE.search("'/ro" + "ot/.pyenv/shims'")
    assert not PLACE.search("overlay/wo" + "rk/x or ${base}/wo" + "rk/x")


def test_every_waiver_says_why() -> None:
    """``noqa`` and ``type: ignore`` name their rule and give a reason on the same line; so does a skip."""
    waiver = re.compile(r"#\s*(?:noqa|type:\s*ignore)(?P<rest>.*)")
    bare = []
    for path in [*modules(SOURCES), *modules(ROOT / "tests"), ROOT / "tasks.py"]:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            found = waiver.search(line)
            if found and not re.match(r"(?::\s*[\w, -]+?|\[[\w, -]+\])\s*(?:#|-).*\w", found["rest"]):
                bare.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert [line for line in bare if "waiver = re" not in line and "``noqa``" not in line] == []

"""The launcher, in small clones with a lock of one package that lies in a folder: nothing here needs a network."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = os.path.realpath(sys.executable)
UV = Path(sys.executable).parent / "uv"
MAIN = """
import json, os, sys
import tiny
print(json.dumps({"argv": sys.argv[1:], "path": sys.path, "prefix": sys.prefix, "tiny": tiny.VERSION,
                  "environment": dict(os.environ), "cwd": os.getcwd()}))
"""
NOBODY = 65534


def make_wheel(folder: Path, version: str) -> str:
    """A wheel of one module in ``folder``; the line of a lock that names it."""
    name, info = f"tiny-{version}-py3-none-any.whl", f"tiny-{version}.dist-info"
    files = {
        "tiny.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(text)}\n"
    with zipfile.ZipFile(folder / name, "w") as wheel:
        for path, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            wheel.writestr(path, text)
    return f"tiny=={version} --hash=sha256:{hashlib.sha256((folder / name).read_bytes()).hexdigest()}\n"


class Clone:
    """A clone with nothing but the launcher, a tiny package to start, and programs of our choice on PATH."""

    def __init__(self, base: Path, name: str = "a clone") -> None:
        self.root = base / name
        self.bin = base / "bin"
        self.wheels = base / "wheels"
        for folder in (self.root / "src" / "rerig", self.bin, self.wheels):
            folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "inv", self.root / "inv")
        (self.root / "src" / "rerig" / "__init__.py").touch()
        (self.root / "src" / "rerig" / "__main__.py").write_text(MAIN, "utf-8")
        self.lock(make_wheel(self.wheels, "1.0"))
        self.program("python3", f'exec "{PYTHON}" "$@"')
        self.environment = {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "HOME": str(base / "home"),
            "LC_ALL": "C.UTF-8",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "UV_OFFLINE": "1",
            "UV_FIND_LINKS": str(self.wheels),
            "UV_CACHE_DIR": str(base / "cache"),
            "UV_HTTP_RETRIES": "0",
            "PIP_RETRIES": "0",
        }

    def lock(self, text: str, name: str = "requirements.lock") -> None:
        (self.root / name).write_text(text, "utf-8")

    def program(self, name: str, script: str) -> None:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        path.chmod(0o755)

    def without_other_pythons(self) -> None:
        """PATH holds our own programs and the base tools that the launcher needs, no Python of the machine."""
        base = self.bin.parent / "base"
        base.mkdir(exist_ok=True)
        for tool in "sh cat chmod cmp cp env find grep ln mkdir mktemp mv readlink rm tail tar dpkg-deb".split():
            if path := shutil.which(tool):
                (base / tool).symlink_to(path)
        self.environment["PATH"] = f"{self.bin}:{base}"

    def with_uv(self) -> None:
        (self.bin / "uv").symlink_to(UV)

    def run(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        command = options.pop("command", [str(self.root / "inv")])
        options = {"env": self.environment, "cwd": self.root, **options}
        return subprocess.run([*command, *words], capture_output=True, text=True, check=False, **options)

    def start(self, *words: str, **options: Any) -> dict[str, Any]:
        """Run, expect success, and what the started package saw."""
        done = self.run(*words, **options)
        assert done.returncode == 0, done.stderr
        seen: dict[str, Any] = json.loads(done.stdout)
        return seen

    def leftovers(self) -> list[str]:
        link = self.root / ".venv"
        kept = {".venv", str(link.readlink()) if link.is_symlink() else ""}
        return sorted(path.name for path in self.root.glob(".venv*") if path.name not in kept)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    clone = Clone(tmp_path)
    clone.with_uv()
    return clone


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter, unlike tmp_path."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_words_reach_rerig_as_they_were_typed(clone: Clone) -> None:
    words = ["results.validate", "--", "a b.json", "", "it's", '"q"', "new\nline", "-x", "*", "$HOME"]
    assert clone.start(*words)["argv"] == words


def test_the_environment_is_made_once(clone: Clone) -> None:
    first, second = clone.run("x"), clone.run("x")
    assert "making .venv" in first.stderr
    assert second.stderr == ""
    assert clone.leftovers() == []


def test_a_changed_lock_makes_a_new_environment(clone: Clone) -> None:
    assert clone.start()["tiny"] == "1.0"
    clone.lock(make_wheel(clone.wheels, "2.0"))
    assert clone.start()["tiny"] == "2.0"


def test_a_run_in_progress_keeps_its_environment_when_the_lock_changes(clone: Clone) -> None:
    clone.start()
    before = (clone.root / ".venv").resolve()
    clone.lock(make_wheel(clone.wheels, "2.0"))
    clone.start()
    assert before.is_dir()
    assert (clone.root / ".venv").resolve() != before


def test_a_moved_clone_makes_a_new_environment(clone: Clone) -> None:
    clone.start()
    moved = clone.root.with_name("elsewhere")
    clone.root.rename(moved)
    clone.root = moved
    assert clone.start()["path"].count(str(moved / "src")) == 1


def test_it_starts_through_a_link_and_from_another_folder(clone: Clone, tmp_path: Path) -> None:
    link = tmp_path / "a link"
    link.symlink_to(clone.root / "inv")
    seen = clone.start("x", command=[str(link)], cwd=tmp_path)
    assert seen["cwd"] == str(tmp_path)
    assert str(clone.root / "src") in seen["path"]


def test_nothing_in_the_current_folder_or_in_pythonpath_gets_imported(clone: Clone, tmp_path: Path) -> None:
    shadow = tmp_path / "shadow"
    shadow.mkdir()
    for name in ("tiny", "json"):
        (shadow / f"{name}.py").write_text("raise SystemExit('shadowed')", "utf-8")
    clone.environment["PYTHONPATH"] = str(shadow)
    seen = clone.start(cwd=shadow)
    assert "PYTHONPATH" not in seen["environment"]


def test_ansible_gets_the_clones_settings_even_where_everybody_may_write(clone: Clone) -> None:
    clone.root.chmod(0o777)
    assert clone.start()["environment"]["ANSIBLE_CONFIG"] == str(clone.root / "ansible.cfg")


def test_developers_verbs_get_the_developers_environment(clone: Clone) -> None:
    clone.lock(make_wheel(clone.wheels, "3.0"), "requirements-dev.lock")
    assert clone.start("test")["prefix"] == str(clone.root / ".venv-dev")
    assert clone.start("rerun")["prefix"] == str(clone.root / ".venv")


def test_a_python_that_exists_and_fails_is_passed_over(clone: Clone) -> None:
    clone.without_other_pythons()
    clone.program("python3", "echo 'pyenv: python3: command not found' >&2; exit 127")
    clone.program("python3.13", "exit 1")
    clone.program("python3.12", f'exec "{PYTHON}" "$@"')
    assert clone.start()["tiny"] == "1.0"


@pytest.mark.parametrize("script", ["exit 127", "exit 0"], ids=["broken", "too old"])
def test_without_a_python_it_says_what_to_install(clone: Clone, script: str) -> None:
    clone.without_other_pythons()
    clone.program("python3", script)
    done = clone.run()
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "./inv: Python 3.10 or newer is needed and none was found; "
        "on Debian or Ubuntu: sudo apt-get install python3 python3-venv"
    ]


def test_pip_serves_where_there_is_no_uv(tmp_path: Path) -> None:
    assert Clone(tmp_path).start()["tiny"] == "1.0"


@pytest.mark.slow
def test_pip_serves_where_uv_is_broken(tmp_path: Path) -> None:
    clone = Clone(tmp_path)
    clone.program("uv", "exit 3")
    assert clone.start()["tiny"] == "1.0"


@pytest.mark.slow
def test_settings_of_the_machine_do_not_bend_what_is_installed(tmp_path: Path) -> None:
    clone = Clone(tmp_path)
    constraint = tmp_path / "constraint.txt"
    constraint.write_text("tiny==9\n", "utf-8")
    clone.environment.update(PIP_CONSTRAINT=str(constraint), PIP_USER="1", PIP_TARGET=str(tmp_path / "target"))
    assert clone.start()["tiny"] == "1.0"


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="makes a Debian package")
@pytest.mark.slow
def test_debians_python_without_venv_and_pip_gets_pip_from_its_package(tmp_path: Path) -> None:
    clone = Clone(tmp_path)
    clone.without_other_pythons()
    _strip_venv(clone)
    package = _pip_package(tmp_path)
    clone.program("apt-get", f'case "$*" in *update*) exit 1;; esac; cp "{package}" .')
    assert clone.start()["tiny"] == "1.0"
    assert not list((clone.root / ".venv").resolve().glob("usr"))


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="makes a Debian package")
@pytest.mark.slow
def test_a_machine_without_package_lists_fetches_its_own(tmp_path: Path) -> None:
    clone = Clone(tmp_path)
    clone.without_other_pythons()
    _strip_venv(clone)
    package = _pip_package(tmp_path)
    clone.program(
        "apt-get",
        f"""case "$*" in
        *Dir::State::Lists=*update*) : > "{tmp_path}/updated" ;;
        *Dir::State::Lists=*download*) test -e "{tmp_path}/updated" && cp "{package}" . ;;
        *) echo 'E: Unable to locate package' >&2; exit 100 ;;
        esac""",
    )
    assert clone.start()["tiny"] == "1.0"


@pytest.mark.parametrize("apt", ["exit 100", None], ids=["no package", "no apt"])
def test_without_venv_and_pip_it_says_what_to_type(tmp_path: Path, apt: str | None) -> None:
    clone = Clone(tmp_path)
    clone.without_other_pythons()
    _strip_venv(clone)
    if apt:
        clone.program("apt-get", apt)
    _assert_fails(clone, "this Python has no venv and no pip; on Debian or Ubuntu: sudo apt-get install python3-venv")


@pytest.mark.slow
def test_a_download_that_is_not_the_locked_one_is_refused(clone: Clone) -> None:
    clone.lock(f"tiny==1.0 --hash=sha256:{'0' * 64}\n")
    _assert_fails(clone, "a download is not the package that the lock names")


@pytest.mark.slow
def test_pip_refuses_it_too(tmp_path: Path) -> None:
    clone = Clone(tmp_path)
    clone.lock(f"tiny==1.0 --hash=sha256:{'0' * 64}\n")
    _assert_fails(clone, "a download is not the package that the lock names")


def test_a_lock_without_hashes_is_refused(clone: Clone) -> None:
    clone.lock("tiny==1.0\n")
    _assert_fails(clone, "")


@pytest.mark.slow
@pytest.mark.parametrize("uv", [True, False], ids=["uv", "pip"])
def test_without_a_network_it_says_so(tmp_path: Path, uv: bool) -> None:
    clone = Clone(tmp_path)
    if uv:
        clone.with_uv()
    nowhere = "http://127.0.0.1:9/simple"
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "UV_OFFLINE", "UV_FIND_LINKS"):
        del clone.environment[name]
    clone.environment.update(PIP_INDEX_URL=nowhere, UV_DEFAULT_INDEX=nowhere)
    _assert_fails(clone, "the package index cannot be reached: is there a network?")


@pytest.mark.root
def test_a_full_disk_is_named(tmp_path: Path) -> None:
    clone = Clone(tmp_path)
    clone.with_uv()
    clone.environment["UV_LINK_MODE"] = "copy"
    script = 'mount -t tmpfs -o size=64k tmpfs "$1" && cp -r "$2/." "$1" && exec "$1/inv"'
    small = tmp_path / "small"
    small.mkdir()
    done = clone.run(command=["unshare", "--mount", "sh", "-c", script, "sh", str(small), str(clone.root)])
    assert done.returncode == 1
    assert "the disk is full" in done.stderr.splitlines()[-1]


@pytest.mark.root
def test_a_clone_that_it_may_not_write_in_is_named(open_folder: Path) -> None:
    clone = Clone(open_folder)
    done = clone.run(user=NOBODY)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"./inv: cannot write in {clone.root} (read-only, full, or another user's), "
        "where the Python environment belongs"
    ]


@pytest.mark.root
@pytest.mark.skipif(not os.access("/usr/bin/python3", os.X_OK), reason="another user needs a Python that it may run")
def test_another_user_may_use_a_clone_that_is_ready(open_folder: Path) -> None:
    clone = Clone(open_folder)
    clone.environment["RERIG_PYTHON"] = "/usr/bin/python3"
    clone.with_uv()
    clone.start()
    assert clone.start(user=NOBODY)["prefix"] == str(clone.root / ".venv")


@pytest.mark.parametrize("home", [None, ""], ids=["unset", "empty"])
def test_no_home_is_needed(clone: Clone, home: str | None) -> None:
    for name in ("HOME", "UV_CACHE_DIR"):
        del clone.environment[name]
    if home is not None:
        clone.environment["HOME"] = home
    clone.environment["UV_NO_CACHE"] = "1"
    assert clone.start()["tiny"] == "1.0"


def test_first_runs_that_start_at_once_all_work(clone: Clone) -> None:
    command = [str(clone.root / "inv"), "x"]
    runs = [
        subprocess.Popen(command, env=clone.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    outputs = [run.communicate() for run in runs]
    assert [run.returncode for run in runs] == [0] * 4, outputs
    assert clone.run("x").stderr == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_first_run_that_is_stopped_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    clone = Clone(tmp_path)
    os.mkfifo(tmp_path / "started")
    clone.program("uv", f'echo > "{tmp_path}/started"; exec tail -f /dev/null')
    run = subprocess.Popen(
        [str(clone.root / "inv")], env=clone.environment, stderr=subprocess.DEVNULL, start_new_session=True
    )
    (tmp_path / "started").read_text("utf-8")
    os.killpg(run.pid, number)
    assert run.wait() not in (0, 1)
    assert clone.leftovers() == []


def test_a_folder_that_is_not_ours_is_left_alone(clone: Clone) -> None:
    (clone.root / ".venv").mkdir()
    (clone.root / ".venv" / "precious").touch()
    done = clone.run()
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"./inv: {clone.root}/.venv is in the way: move it elsewhere"
    assert (clone.root / ".venv" / "precious").exists()
    assert clone.leftovers() == []


def test_an_environment_whose_python_is_gone_is_made_anew(clone: Clone) -> None:
    clone.start()
    python = clone.root / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nonexistent/python")
    assert clone.start()["tiny"] == "1.0"


def _assert_fails(clone: Clone, reason: str) -> None:
    """One sentence with the reason, status 1, and nothing left but the log."""
    done = clone.run()
    assert done.returncode == 1
    making, sentence = done.stderr.splitlines()
    assert making.startswith("./inv: making .venv")
    assert sentence.startswith(f"./inv: no Python environment: {reason}")
    assert sentence.endswith(f"(details: {clone.root}/.venv.log)")
    assert clone.leftovers() == [".venv.log"]


def _strip_venv(clone: Clone) -> None:
    """A Python like Debian's without python3-venv: no ensurepip, and a venv that works only without pip."""
    clone.program(
        "python3",
        f"""case "$*" in
        *realpath*) echo "{clone.bin}/python3"; exit 0 ;; # where it really lies would lead around this one
        *"import ensurepip"*) echo 'No module named ensurepip' >&2; exit 1 ;;
        *"-m venv"*--without-pip*) ;;
        *"-m venv"*) echo 'ensurepip is not available' >&2; exit 1 ;;
        esac
        exec "{PYTHON}" "$@" """,
    )


def _pip_package(base: Path) -> Path:
    """A Debian package with pip's wheel where python3-pip-whl has it; the wheel is the one that Python brings along."""
    ensurepip = pytest.importorskip("ensurepip", reason="this Python brings no pip along")
    folders = (Path(ensurepip.__file__).parent / "_bundled", Path("/usr/share/python-wheels"))  # the latter is Debian's
    wheel = next(path for folder in folders for path in folder.glob("pip-*.whl"))
    tree = base / "package"
    (tree / "usr" / "share" / "python-wheels").mkdir(parents=True)
    (tree / "DEBIAN").mkdir()
    shutil.copy(wheel, tree / "usr" / "share" / "python-wheels")
    control = "Package: python3-pip-whl\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@example.net>\n"
    (tree / "DEBIAN" / "control").write_text(f"{control}Description: a test\n", "utf-8")
    package = base / "python3-pip-whl_1_all.deb"
    subprocess.run(
        ["dpkg-deb", "--build", "--root-owner-group", str(tree), str(package)], check=True, capture_output=True
    )
    return package

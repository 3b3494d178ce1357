"""The settings of the tools around the code: nothing is downloaded by a hook, nothing that ./inv makes gets tracked."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_hooks_are_local_and_download_nothing() -> None:
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert [repo["repo"] for repo in repos] == ["local"]
    assert {hook["language"] for hook in repos[0]["hooks"]} == {"system"}


def test_ansible_lint_is_strict_and_offline() -> None:
    settings = yaml.safe_load((ROOT / ".ansible-lint").read_text("utf-8"))
    assert (settings["profile"], settings["offline"]) == ("production", True)
    assert "skip_list" not in settings
    assert "warn_list" not in settings


@pytest.mark.parametrize(
    "name", [".venv", ".venv.a1B2c3/bin/python", ".venv-dev.log", "build/x", "dist/x.pyz", "runs/x/result.json"]
)
def test_what_is_made_here_is_not_tracked(name: str) -> None:
    done = subprocess.run(["git", "check-ignore", "--quiet", name], cwd=ROOT)
    if done.returncode == 128:
        pytest.skip("not a git checkout")
    assert done.returncode == 0


def test_no_fixture_or_example_is_ignored_by_accident() -> None:
    command = [
        "git",
        "ls-files",
        "--others",
        "--ignored",
        "--exclude-standard",
        "tests/fixtures",
        "schemas",
        "published",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    assert [name for name in done.stdout.splitlines() if "__pycache__" not in name] == []

"""The static checks: their tools are in the lock, and what they find is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from rerig.errors import UserError
from rerig.upkeep import lint
from rerig.upkeep.environment import tool

ROOT = Path(__file__).resolve().parents[4]


def test_every_tool_is_in_the_developers_environment() -> None:
    for program, *_ in lint.CHECKS.values():
        assert Path(tool(program)).exists()


def test_a_tool_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match=r"no-such-tool is not in this environment: start with \./inv test"):
        tool("no-such-tool")


def test_every_shell_script_is_checked() -> None:
    listed = {ROOT / name for name in lint.SHELL_SCRIPTS}
    scripts = {ROOT / "inv", *(ROOT / ".ci").iterdir(), *ROOT.glob("*.sh"), *ROOT.glob("roles/**/*.sh")}
    assert scripts <= listed


def test_findings_are_shown_and_silence_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lint, "tool", lambda name: name)
    monkeypatch.setattr(lint, "CHECKS", {"good": ("true",), "bad": ("sh", "-c", "echo x.py:1; echo E501 >&2; exit 1")})
    good, bad = lint.run_checks()
    assert lint.report(good) == f"ok     good ({good.duration_s:.1f} s)"
    assert lint.report(bad).splitlines() == [f"FAILED bad ({bad.duration_s:.1f} s)", "x.py:1", "E501"]

"""Tasks for who works on rerig itself."""

from __future__ import annotations

from invoke.context import Context
from invoke.exceptions import Exit
from invoke.tasks import task


@task(name="test", help={"all": "The slow tests too, and the agent's on every Python of this machine (a run of CI)"})
def run_tests(context: Context, all: bool = False) -> None:
    """Run lint and the tests, the agent's on the oldest Python here as well. After --: words for pytest alone."""
    from rerig.program import arguments
    from rerig.upkeep.testing import run_everything, run_pytest

    words = arguments(context)
    status = run_pytest(words) if words else run_everything(full=all)
    if status:
        raise Exit(code=status)


@task
def lint(context: Context) -> None:
    """Run every static check: ruff, mypy, ansible-lint, yamllint, shellcheck."""
    from rerig.upkeep.lint import report, run_checks

    outcomes = run_checks()
    print("\n".join(map(report, outcomes)))
    if not all(outcome.ok for outcome in outcomes):
        raise Exit(code=1)


@task(help={"upgrade": "Move to the newest versions that pyproject.toml allows"})
def relock(context: Context, upgrade: bool = False) -> None:
    """Write the lock files anew from pyproject.toml."""
    from rerig.upkeep.locks import write_locks

    changed = write_locks(upgrade)
    print(f"Changed: {', '.join(changed)}" if changed else "The locks were up to date.")

"""``./inv results.*``: show, validate, compare and rebuild results."""

from __future__ import annotations

import sys
from pathlib import Path

from invoke.context import Context
from invoke.tasks import task

from rerig.program import arguments


@task(help={"result": "A result.json or its run directory.", "json": "Print the document as JSON."})
def show(_context: Context, result: str, json: bool = False) -> None:
    """Show a result as a table, with the published figures beside it and every doubt."""
    from rerig.report import results

    results.print_run(_one_result(result), as_json=json, quiet=False)


@task
def validate(context: Context) -> None:
    """Check results against the schema: results.validate -- FILE… (files, directories or globs).

    Every file is checked; the exit status is 1 if any is not a valid document.
    """
    from rerig.errors import UserError
    from rerig.store import find_results

    names = arguments(context)
    if not names:
        raise UserError("results.validate needs files: ./inv results.validate -- FILE…", 2)
    failures = 0
    paths = find_results(names)
    for path in paths:
        problem = _problem(path)
        failures += problem is not None
        print(f"{path}: valid" if problem is None else problem, file=sys.stderr if problem else sys.stdout)
    if failures:
        raise UserError(f"{failures} of {len(paths)} documents can't be used as they are.")


@task(
    name="compare",
    help={
        "result": "A result.json or its run directory.",
        "published": "The id of published figures (see published.list) or a path.",
        "with": "Another result to compare with.",
        "json": "Print the comparison as JSON.",
    },
)
def compare_(_context: Context, result: str, published: str = "", with_: str = "", json: bool = False) -> None:
    """Compare a result with published figures (--published ID) or with another result (--with FILE)."""
    from rerig.documents import load_valid_document
    from rerig.errors import UserError
    from rerig.report import comparisons

    if bool(published) == bool(with_):
        raise UserError("Give either --published ID or --with FILE.", 2)
    document = load_valid_document(_one_result(result), "rerig-result")
    if published:
        comparisons.print_published(document, published, as_json=json)
    else:
        other = load_valid_document(_one_result(with_), "rerig-result")
        comparisons.print_pair(document, other, as_json=json)


@task(help={"run": "A run directory.", "json": "Print the rebuilt result as JSON."})
def rebuild(_context: Context, run: str, json: bool = False) -> None:
    """Build a run's result.json again from its kept raw outputs, with today's parsers."""
    from rerig import rerun
    from rerig.report import results

    for name in rerun.changed_since_built(Path(run)):
        print(f"{name} is not what it was when the result was built.", file=sys.stderr)
    results.print_run(rerun.rebuild(Path(run)), as_json=json, quiet=not json)


@task(
    help={
        "archive": "What the agent's pack has written on another machine.",
        "out": "Where the run directory goes (default: runs).",
    }
)
def receive(_context: Context, archive: str, out: str = "runs") -> None:
    """Unpack a run from another machine, build its result and print where it is; the role measure asks for it."""
    from rerig.handing import receive_run

    print(receive_run(Path(archive), Path(out)))


def _problem(path: Path) -> str | None:
    """The sentence about an invalid document, or None."""
    from rerig.documents import load_valid_document
    from rerig.errors import UserError

    try:
        load_valid_document(path)
    except UserError as error:
        return str(error)
    return None


def _one_result(name: str) -> Path:
    from rerig.errors import UserError

    path = Path(name)
    if not path.is_dir():
        return path
    if not (path / "result.json").exists():
        what = f"no result yet: ./inv results.rebuild {path}" if (path / "plan.json").exists() else "no result"
        raise UserError(f"{path} holds {what}.")
    return path / "result.json"

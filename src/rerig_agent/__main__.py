"""The agent's command line: ``python3 rerig-agent.pyz probe|commands|run|undo``.

Results go to stdout, sentences for people to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from . import VERSION

EXIT_NOTHING_MEASURED = 1
EXIT_USAGE = 2
EXIT_BUG = 70  # EX_SOFTWARE of sysexits.h
EXIT_IO_ERROR = 74  # EX_IOERR of sysexits.h: the run directory's disk is full, say
PLAN_HELP = "the plan, from './inv rerun --plan-only --json'"


def main(argv: list[str] | None = None) -> int:
    """Run one subcommand; the return value is the exit status (0, 1, 2, 70, 74, or 128 + signal)."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed, as by '2>&-': the next opened file must not take its place
            setattr(sys, name, Path(os.devnull).open("r" if name == "stdin" else "w"))  # noqa: SIM115 - for good
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.function(arguments))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except OSError as error:
        name = "" if error.filename is None else f" ({Path(os.fsdecode(error.filename)).name})"
        print(f"rerig-agent: {error.strerror or error}{name}", file=sys.stderr)
        return EXIT_IO_ERROR
    except Exception as error:
        if os.environ.get("RERIG_TRACEBACK"):
            raise
        print(f"rerig-agent: bug: {type(error).__name__}: {error} (RERIG_TRACEBACK=1 shows where)", file=sys.stderr)
        return EXIT_BUG


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rerig-agent",
        description="Measures storage on this machine from a plan and keeps every raw output.",
    )
    parser.add_argument("--version", action="version", version="rerig-agent " + VERSION)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    probe = commands.add_parser("probe", help="print, as JSON, the tools here and what is known about files")
    probe.add_argument("--path", action="append", default=[], metavar="FILE", help="a file to look at (repeatable)")
    probe.add_argument("--scratch", metavar="DIR", help="a directory that is to hold a scratch file")
    probe.set_defaults(function=_probe)
    listing = commands.add_parser("commands", help="print every command that a plan would run; run none")
    listing.add_argument(
        "--plan",
        required=True,
        type=Path,
        metavar="FILE",
        help=PLAN_HELP,
    )
    listing.add_argument("--json", action="store_true", help="as a JSON list of texts (a file name may hold newlines)")
    listing.set_defaults(function=_commands)
    run = commands.add_parser("run", help="run a plan; the raw outputs go to a new directory")
    run.add_argument(
        "--plan",
        required=True,
        type=Path,
        metavar="FILE",
        help=PLAN_HELP,
    )
    run.add_argument(
        "--run-dir",
        required=True,
        type=Path,
        metavar="DIR",
        help="a directory that does not exist yet or is empty",
    )
    run.add_argument(
        "--progress",
        choices=["json", "text", "none"],
        default="text",
        help="how to tell what goes on (default: text)",
    )
    run.set_defaults(function=_run)
    undo = commands.add_parser("undo", help="remove what killed runs left behind")
    undo.add_argument(
        "--runs", required=True, type=Path, metavar="DIR", help="the directory that holds the run directories"
    )
    undo.set_defaults(function=_undo)
    return parser


def _probe(arguments: argparse.Namespace) -> int:
    from .evidence import collect_target
    from .judge.classify import classify
    from .tools import probe_tools

    targets = []
    for path in arguments.path:
        found = collect_target(path)
        targets.append({"path": path, "evidence": found, "classified": classify(found)})
    report: dict[str, Any] = {
        "agent": VERSION,
        "python": "{}.{}.{}".format(*sys.version_info[:3]),
        "tools": probe_tools(),
        "targets": targets,
        "scratch": None if arguments.scratch is None else _probe_scratch(arguments.scratch),
    }
    json.dump(report, sys.stdout)
    sys.stdout.write("\n")
    return 0


def _probe_scratch(directory: str) -> dict[str, Any]:
    from .evidence import collect_target
    from .judge.classify import classify
    from .prepared import scratch_refusal
    from .scratch import RESERVE_BYTES, free_bytes

    found = collect_target(directory)
    if found["kind"] != "directory":
        sentence = "The scratch directory is missing or is not a directory."
        return {
            "directory": directory,
            "evidence": found,
            "refusal": {"code": "scratch_failed", "sentence": sentence},
        }
    assumed_bytes = 2**30  # any honest size: only the file system is judged here
    as_file = dict(found, kind="file", size_bytes=assumed_bytes, allocated_bytes=assumed_bytes, errno=None)
    return {
        "directory": found["real_path"],
        "evidence": found,
        "classified": classify(as_file),
        "refusal": scratch_refusal(found, assumed_bytes),
        "free_bytes": free_bytes(directory),
        "reserve_bytes": RESERVE_BYTES,
        "writable": os.access(directory, os.W_OK | os.X_OK),
    }


def _commands(arguments: argparse.Namespace) -> int:
    from .cases import build_argv
    from .cases.fio_read import ALIAS_NAME
    from .prepared import planned_path
    from .shell_words import shell_word

    plan = _plan(arguments.plan)
    if plan is None:
        return EXIT_USAGE
    lines = []
    for case in plan["cases"]:
        path = planned_path(plan, case)
        for repeat in case["repeats"]:
            argv = build_argv(case, repeat, path)
            line = " ".join(map(shell_word, argv))
            if "--filename=" + ALIAS_NAME in argv:  # fio would change this name, so it gets a link
                link = ["ln", "-sfn", path, ALIAS_NAME]
                line = "{} && {}".format(" ".join(map(shell_word, link)), line)
            lines.append("{}{}".format("# skipped: " if case.get("skip") else "", line))
    if arguments.json:
        json.dump(lines, sys.stdout)
        print()
    else:
        for line in lines:
            print(line.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    return 0


def _run(arguments: argparse.Namespace) -> int:
    from .child import StopFlag
    from .progress import emitter
    from .run import Run

    plan = _plan(arguments.plan)
    if plan is None:
        return EXIT_USAGE
    if arguments.run_dir.is_dir() and any(arguments.run_dir.iterdir()):
        print("rerig-agent: the run directory is not empty; nothing in it is overwritten", file=sys.stderr)
        return EXIT_USAGE
    arguments.run_dir.mkdir(parents=True, exist_ok=True)
    stop = StopFlag()
    stop.install()
    from .files import write_json

    write_json(arguments.run_dir / "plan.json", plan)
    status = Run(plan, arguments.run_dir, stop, emitter(arguments.progress)).execute()
    if status == EXIT_NOTHING_MEASURED:
        print("rerig-agent: nothing could be measured", file=sys.stderr)
    return status


def _undo(arguments: argparse.Namespace) -> int:
    from .journal import undo_left_behind

    for run_dir, path in undo_left_behind(arguments.runs):
        print(f"{run_dir.name}: removed {Path(path).name}")
    return 0


def _plan(path: Path) -> dict[str, Any] | None:
    from .plan_format import PlanError, read_plan

    try:
        return read_plan(path)
    except PlanError as error:
        print(f"rerig-agent: {error}", file=sys.stderr)
        return None


if __name__ == "__main__":
    sys.exit(main())

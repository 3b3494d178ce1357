"""The words of the agent's command line."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from . import VERSION

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

PLAN_HELP = "the plan, from './inv rerun --plan-only --json'; - is standard input"
PROGRESS = ["json", "text", "none"]


def build_parser() -> argparse.ArgumentParser:
    """``command`` of what it parses is the subcommand's name."""
    parser = argparse.ArgumentParser(
        prog="rerig-agent",
        description="Measures storage on this machine from a plan and keeps every raw output.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version="rerig-agent " + VERSION)
    parser.add_argument(
        "--mark", metavar="WORD", help="print a line WORD before anything else, behind what a login shell prints"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    _add_planning(commands)
    _add_running(commands)
    _add_asking(commands)
    _add_tidying(commands)
    return parser


def _add_planning(commands: Commands) -> None:
    probe = commands.add_parser("probe", help="print, as JSON, the tools here and what is known about files")
    probe.add_argument("--path", action="append", default=[], metavar="FILE", help="a file to look at (repeatable)")
    probe.add_argument("--scratch", metavar="DIR", help="a directory that is to hold a scratch file")
    state = commands.add_parser("state", help="print, as JSON, what state this machine is in; changes nothing")
    state.add_argument(
        "--root", type=_directory, default=Path("/"), metavar="DIR", help="whose files to read (default: /)"
    )
    state.add_argument("--tools", action="store_true", help="also ask the board's own tools, which only read")
    listing = commands.add_parser("commands", help="print every command that a plan would run; run none")
    listing.add_argument("--plan", required=True, metavar="FILE", help=PLAN_HELP)
    listing.add_argument("--json", action="store_true", help="as a JSON list of texts (a file name may hold newlines)")


def _add_running(commands: Commands) -> None:
    run = commands.add_parser("run", help="run a plan; the raw outputs go to a new directory")
    run.add_argument("--progress", choices=PROGRESS, default="text", help="how to tell what goes on (default: text)")
    start = commands.add_parser("start", help="as run, but the run goes on by itself; print how it is")
    for parser in (run, start):
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--plan", metavar="FILE", help=PLAN_HELP)
        what.add_argument("--resume", action="store_true", help="go on with the run that was stopped or killed")
        parser.add_argument(
            "--run-dir",
            required=True,
            type=_directory,
            metavar="DIR",
            help="a directory that does not exist yet or is empty; with --resume: that of the run",
        )


def _add_asking(commands: Commands) -> None:
    follow = commands.add_parser("follow", help="tell what goes on in a run, and end with its exit status")
    _add_run(follow)
    follow.add_argument("--skip", type=_count, default=0, metavar="N", help="leave the first N events out")
    follow.add_argument("--progress", choices=PROGRESS, default="text", help="how to tell it (default: text)")
    _add_run(commands.add_parser("status", help="print, as JSON, how a run is"))
    listing = commands.add_parser("list", help="print how all runs below some directories are")
    listing.add_argument("directories", nargs="+", type=_directory, metavar="DIR", help="a directory that holds runs")
    listing.add_argument("--json", action="store_true", help="as a JSON list of what 'status' prints")
    pack = commands.add_parser("pack", help="write a run as a tar archive")
    _add_run(pack)
    pack.add_argument("--to", type=_directory, metavar="FILE", help="a file (default: standard output)")


def _add_tidying(commands: Commands) -> None:
    _add_run(commands.add_parser("stop", help="stop a run; it keeps what it has and can be resumed"))
    clean = commands.add_parser("clean", help="remove runs, and what they left elsewhere; never one that goes on")
    clean.add_argument("runs", nargs="+", type=_directory, metavar="RUN", help="a run's directory")
    undo = commands.add_parser("undo", help="undo what killed runs left behind")
    undo.add_argument(
        "--runs", required=True, type=_directory, metavar="DIR", help="the directory that holds the run directories"
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=_directory, metavar="RUN", help="the run's directory")


def _directory(word: str) -> Path:
    """Absolute, since a detached run lives in ``/``; links stay as they are."""
    return Path(os.path.abspath(word))  # noqa: PTH100 - as above


def _count(word: str) -> int:
    number = int(word)
    if number < 0:
        raise argparse.ArgumentTypeError("it must not be negative")
    return number

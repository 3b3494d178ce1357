"""The agent's command line: ``python3 rerig-agent.pyz COMMAND``; ``--help`` lists the commands.

Results go to stdout, sentences for people to stderr.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Any, Callable

from .arguments import build_parser
from .exits import EXIT_BUG, EXIT_NOTHING_MEASURED, complain, explain


def main(argv: list[str] | None = None) -> int:
    """Run one subcommand; the return value is the exit status (see :mod:`rerig_agent.exits`; 128 + n: signal n)."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed, as by '2>&-': the next opened file must not take its place
            setattr(sys, name, Path(os.devnull).open("r" if name == "stdin" else "w"))  # noqa: SIM115 - for good
    try:
        arguments = build_parser().parse_args(_after_mark(sys.argv[1:] if argv is None else argv))
        status = COMMANDS[arguments.command](arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except Exception as error:
        status, sentence = explain(error)
        if status == EXIT_BUG and os.environ.get("RERIG_TRACEBACK"):
            raise
        complain(sentence)
        return status


def _after_mark(argv: list[str]) -> list[str]:
    """Print the mark, if one is asked for, before anything else is printed; the rest of the words."""
    word, rest = None, argv
    if argv[:1] == ["--mark"] and len(argv) > 1:
        word, rest = argv[1], argv[2:]
    elif argv and argv[0].startswith("--mark="):
        word, rest = argv[0].partition("=")[2], argv[1:]
    if word is not None:
        sys.stdout.buffer.write(os.fsencode(word) + b"\n")
        sys.stdout.buffer.flush()
    return rest


def _probe(arguments: argparse.Namespace) -> int:
    from .probe import probe

    return probe(arguments.path, arguments.scratch)


def _state(arguments: argparse.Namespace) -> int:
    from .state import print_state

    return print_state(arguments.root, arguments.tools)


def _commands(arguments: argparse.Namespace) -> int:
    from .begin import plan_from
    from .command_list import list_commands

    return list_commands(plan_from(arguments.plan), arguments.json)


def _plan_of(arguments: argparse.Namespace) -> dict[str, Any] | None:
    from .begin import plan_from

    return None if arguments.resume else plan_from(arguments.plan)


def _run(arguments: argparse.Namespace) -> int:
    from .begin import begin
    from .child import StopFlag
    from .progress import emitter

    stop = StopFlag()
    stop.install()
    status = begin(_plan_of(arguments), arguments.run_dir, stop, emitter(arguments.progress)).execute()
    if status == EXIT_NOTHING_MEASURED:
        complain("Nothing could be measured.")
    return status


def _start(arguments: argparse.Namespace) -> int:
    from .start import start

    return start(_plan_of(arguments), arguments.run_dir)


def _follow(arguments: argparse.Namespace) -> int:
    from .follow import follow

    return follow(arguments.run, arguments.skip, arguments.progress)


def _status(arguments: argparse.Namespace) -> int:
    from .status import look, print_status

    return print_status(look(arguments.run))


def _list(arguments: argparse.Namespace) -> int:
    from .run_list import list_runs

    return list_runs(arguments.directories, arguments.json)


def _pack(arguments: argparse.Namespace) -> int:
    from .pack import pack

    return pack(arguments.run, arguments.to)


def _stop(arguments: argparse.Namespace) -> int:
    from .stop import stop

    return stop(arguments.run)


def _clean(arguments: argparse.Namespace) -> int:
    from .clean import clean

    return clean(arguments.runs)


def _undo(arguments: argparse.Namespace) -> int:
    from .undo import undo_killed_runs

    for undone in undo_killed_runs(arguments.runs):
        print(f"{undone.run_dir.name}: {undone.sentence}", flush=True)
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "probe": _probe,
    "state": _state,
    "commands": _commands,
    "run": _run,
    "start": _start,
    "follow": _follow,
    "status": _status,
    "list": _list,
    "pack": _pack,
    "stop": _stop,
    "clean": _clean,
    "undo": _undo,
}


if __name__ == "__main__":
    sys.exit(main())

"""The twin's commands: ``python -m twin COMMAND``, which ``./inv twin.COMMAND`` calls."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from twin import commands
from twin.architecture import ARCHITECTURES
from twin.errors import TwinError

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """A signal asks us to end; what was started is stopped on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def main(argv: Sequence[str]) -> int:
    """The exit status: the command's own for ssh and run, 1 for what the user can mend, 128 + N after signal N."""
    end = argv.index("--") if "--" in argv else len(argv)
    words = _parser().parse_args(argv[:end], argparse.Namespace(words=[*argv[end + 1 :]]))
    logging.basicConfig(format="twin: %(message)s", level=logging.INFO)  # what takes minutes is said before
    for number in STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    command: Callable[[argparse.Namespace], int] = words.command
    try:
        return command(words)
    except TwinError as error:
        print(f"twin: {error}", file=sys.stderr)
        return 1
    except Stopped as stopped:
        print("twin: interrupted.", file=sys.stderr)
        return 128 + stopped.number


def _stop(number: int, _frame: object) -> NoReturn:
    for each in STOPPING:  # what is being stopped gets its time, however often one presses Ctrl-C
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./inv twin", allow_abbrev=False)
    added = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        one = added.add_parser(name, allow_abbrev=False)
        one.set_defaults(command=command)
        return one

    add("check", commands.check)
    for name, command in (("build", commands.build), ("snapshot", commands.snapshot)):
        _add_architecture(add(name, command))
    for name, command in (("boot", commands.boot_named), ("restore", commands.restore_named), ("run", commands.run)):
        one = add(name, command)
        _add_architecture(one)
        one.add_argument("--nvme", action="append", default=[])
        one.add_argument("--l4t", default="")
        if name != "run":
            one.add_argument("--name", default="twin")
    one = add("ssh", commands.ssh)
    one.add_argument("--name", default="twin")
    one.add_argument("--user", default="root")
    one = add("stop", commands.stop)
    one.add_argument("--name", default="twin")
    one.add_argument("--all", action="store_true")
    return parser


def _add_architecture(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--arch", default="amd64", metavar="|".join(ARCHITECTURES))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

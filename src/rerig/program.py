"""The command line's grammar: invoke's Program with three habits changed.

What follows ``--`` stays a list (invoke joins it with spaces, which loses quoting), there are no automatic short
flags (``-h`` is help everywhere), and a wrong word is explained in one sentence.
"""

from __future__ import annotations

import difflib
import inspect
import itertools
import re
import sys
from typing import TYPE_CHECKING, Any

from invoke.config import Config
from invoke.exceptions import Exit, ParseError, UnexpectedExit
from invoke.program import Program

from rerig.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from invoke.collection import Collection
    from invoke.context import Context
    from invoke.parser.argument import Argument
    from invoke.tasks import Task

SHORT_FLAGS = ("help", "list", "version")
SHOWN_OPTIONS = (*SHORT_FLAGS, "print-completion-script")


def arguments(context: Context) -> list[str]:
    """What followed ``--`` on the command line, word by word as the shell gave it.

    Under plain ``inv`` nothing puts it into the context, so the process's own arguments are read.
    """
    if "arguments" in context:
        return list(context["arguments"])
    return sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []


class Settings(Config):
    """invoke's configuration under our own name, so that somebody's ~/.invoke.yaml doesn't bend rerig."""

    prefix = "rerig"


class Launcher(Program):
    """``./inv``: the tasks of a namespace, as a program with a fixed set of commands."""

    def __init__(self, version: str, namespace: Collection) -> None:
        _drop_short_flags(namespace)
        super().__init__(version, namespace, name="rerig", binary="./inv", config_class=Settings)
        self.remainder: list[str] = []

    def dispatch(self, argv: list[str]) -> int:
        """Run the tasks that ``argv`` (program name first) names; the exit status.

        Raises UserError for words that make no sense, and whatever a task raises.
        """
        try:
            self.create_config()
            self.parse_core(argv)
            self.parse_collection()
            self.parse_words()
            self.parse_cleanup()
            self.update_config()
            self.execute()
        except ParseError as error:
            raise UserError(self._explain(error), 2) from error
        except UnexpectedExit as error:
            return int(error.result.exited)
        except Exit as error:
            if error.message:
                raise UserError(error.message, error.code) from error
            return error.code
        return 0

    def parse_core(self, argv: list[str] | None) -> None:
        words = list(argv or [])
        if "--" in words:
            self.remainder = words[words.index("--") + 1 :]
            words = words[: words.index("--")]
        before = sys.dont_write_bytecode
        super().parse_core(_help_first(words))
        sys.dont_write_bytecode = before  # invoke stops it, and then scipy would be compiled anew in every run

    def parse_words(self) -> None:
        """Parse the tasks and their flags; a flag that wants a number and got a word is the user's error."""
        self._refuse_flags_without_value()
        try:
            self.parse_tasks()
        except ValueError as error:
            raise UserError(f"A flag wants a whole number and got {str(error).rpartition(': ')[2]}.", 2) from error

    def _refuse_flags_without_value(self) -> None:
        """invoke lets a repeatable flag without a value pass as none at all, or swallow the next flag."""
        repeatable = {f"--{name}" for task in _tasks(self.collection) for name in task.iterable}
        # Task.get_arguments would name them too, but it uses up the help texts.
        names = [name for task in _tasks(self.collection) for name in list(inspect.signature(task.body).parameters)[1:]]
        flags = {"", "--", *(f"--{name.strip('_').replace('_', '-')}" for name in names)}
        for word, following in itertools.pairwise([*self.core.unparsed, "--"]):
            if word in repeatable and following in flags:
                raise UserError(f"{word} needs a value (one that looks like a flag is given as {word}=VALUE).", 2)
            if word.endswith("=") and word[:-1] in repeatable:
                raise UserError(f"{word[:-1]} needs a value.", 2)

    def update_config(self, merge: bool = True) -> None:
        super().update_config(merge)
        self.config["arguments"] = self.remainder  # type: ignore[assignment] # invoke annotates any value as a str

    def core_args(self) -> list[Argument]:
        options = super().core_args()
        for option in options:
            if option.name not in SHORT_FLAGS:
                option.names = option.names[:1]
        return options

    def print_help(self) -> None:
        print("Usage: ./inv TASK [--flags] [-- words], and ./inv TASK --help for a task's own flags\n")
        print("Options:\n")
        shown = tuple(f"--{name}" for name in SHOWN_OPTIONS)
        self.print_columns([row for row in self.initial_context.help_tuples() if any(name in row[0] for name in shown)])
        self.list_tasks()

    def task_list_opener(self, extra: str = "") -> str:
        return "Tasks" + (f" ({extra})" if extra else "")

    def _explain(self, error: ParseError) -> str:
        """invoke's message, as a sentence that says what to type instead."""
        text = str(error)
        task = error.context.name if error.context else None
        see = f"./inv {task} --help" if task else "./inv --list"
        if flag := re.match(r"Flag <Argument: (\S+?)[ >].*(needed value|doesn't take any value)", text):
            needs = "needs a value" if flag[2] == "needed value" else "takes no value"
            return f"--{flag[1].replace('_', '-')} {needs} (see {see})."
        if missing := re.match(r"'(.*)' did not receive required positional arguments: (.*)", text):
            return f"{missing[1]} needs {missing[2].replace(chr(39), '').upper()} (see {see})."
        if unknown := re.match(r"No idea what (['\"])(.*)\1 is!", text, re.DOTALL):
            return self._explain_unknown(unknown[2], task, see)
        return f"{text.rstrip('.!')} (see {see})."

    def _explain_unknown(self, word: str, task: str | None, see: str) -> str:
        if word in self.collection.collections:
            names = [name for name in self.collection.task_names if name.startswith(f"{word}.")]
            return f"{word} is a group of tasks: {', '.join(sorted(names))}."
        if word.startswith("-"):
            contexts: Any = self.parser.contexts
            known = list(contexts[task].flags) if task else list(self.initial_context.flags)
            kind = f"flag of {task}" if task else "option"
        else:
            known, kind = list(self.collection.task_names), "task"
        close = difflib.get_close_matches(word, known, n=1)
        return f"There is no {kind} named {word}{f'; did you mean {close[0]}?' if close else f' (see {see}).'}"


def _help_first(words: list[str]) -> list[str]:
    """``inv TASK --help`` as ``inv --help TASK``: invoke would give the flag to a task's positional parameter."""
    asks = any(word in ("--help", "-h") for word in words[2:])
    return [words[0], "--help", words[1]] if asks and not words[1].startswith("-") else words


def _drop_short_flags(collection: Collection) -> None:
    for task in _tasks(collection):
        task.auto_shortflags = False


def _tasks(collection: Collection) -> Iterator[Task[Any]]:
    yield from collection.tasks.values()
    for child in collection.collections.values():
        yield from _tasks(child)

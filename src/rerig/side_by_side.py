"""The same work on several machines at once: threads work, and this thread alone shows what they tell."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from rerig.errors import UserError

BUG = 70

Item = TypeVar("Item")
Found = TypeVar("Found")
Tell = Callable[[Any], None]
Work = Callable[[str, Item, Tell], Found]


class Interrupted(Exception):
    """A signal (``number``) came while somebody waited for answers."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class SideBySide(Generic[Item, Found]):
    """``work(name, item, tell)`` for every item; ``on_told`` hears, in the caller's thread, what ``tell`` is given.

    A failure of one is its answer, as a UserError, and stops no other; ``on_answer`` hears each as it comes. Threads
    that nobody waits for any more don't keep the process alive.
    """

    def __init__(
        self,
        items: Mapping[str, Item],
        work: Work[Item, Found],
        on_told: Callable[[str, Any], None],
        on_answer: Callable[[str, Found | UserError], None] = lambda _name, _answer: None,
    ) -> None:
        self.answers: dict[str, Found | UserError] = {}
        self.started: set[str] = set()
        self._items = dict(items)
        self._work = work
        self._on_told = on_told
        self._on_answer = on_answer
        self._heard: queue.SimpleQueue[tuple[str, bool, Any]] = queue.SimpleQueue()

    def run(self, serial: bool = False) -> dict[str, Found | UserError]:
        """Do it all; the answers in the order of the items. ``serial``: one after the other."""
        if serial:
            for name in self._items:
                self._start(name)
                self.wait_for({name})
        else:
            for name in self._items:
                self._start(name)
            self.wait_for(set(self._items))
        return {name: self.answers[name] for name in self._items}

    def wait_for(self, names: set[str]) -> None:
        """Show what is told until these have answered. Raises Interrupted."""
        while not names <= self.answers.keys():
            self._take(*self._heard.get())

    def take_the_rest(self) -> None:
        """Show what was told so far, and wait for nothing. Raises Interrupted."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._take(*self._heard.get_nowait())

    def interrupt(self, number: int) -> None:
        """For a signal's handler: whoever waits here gets Interrupted, and nothing that was told is lost."""
        self._heard.put(("", False, Interrupted(number)))

    def _take(self, name: str, over: bool, told: Any) -> None:
        if isinstance(told, Interrupted):
            raise told
        if not over:
            self._on_told(name, told)
            return
        self.answers[name] = told
        self._on_answer(name, told)

    def _start(self, name: str) -> None:
        self.started.add(name)
        threading.Thread(target=self._answer, args=[name], daemon=True).start()

    def _answer(self, name: str) -> None:
        answer: Found | UserError
        try:
            answer = self._work(name, self._items[name], lambda told: self._heard.put((name, False, told)))
        except UserError as error:
            answer = error
        except OSError as error:
            answer = UserError(f"{error.filename or 'rerig'}: {error.strerror or error}.")
        except Exception as error:  # noqa: BLE001 - a bug met on one machine must not stop the others
            answer = _bug(error)
        except BaseException as error:  # noqa: BLE001 - somebody waits for an answer, whatever it is
            answer = UserError(f"Stopped by {type(error).__name__}.")
        self._heard.put((name, True, answer))


def run_side_by_side(items: Mapping[str, Item], work: Callable[[Item], Found]) -> dict[str, Found | UserError]:
    """``work(item)`` for every item at once, by name, with nothing told meanwhile."""
    return SideBySide(items, lambda _name, item, _tell: work(item), lambda _name, _told: None).run()


def _bug(error: Exception) -> UserError:
    if os.environ.get("RERIG_TRACEBACK"):
        import traceback

        traceback.print_exception(error)
    first = next(iter(str(error).splitlines()), "no message")
    return UserError(f"Bug: {type(error).__name__}: {first} (RERIG_TRACEBACK=1 shows where).", BUG)

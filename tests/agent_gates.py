"""The agent on a machine of a bed, stopped where a test wants it: at a line of its journal, or before a command.

It is the very archive that the controller sent. The machine's ``python3`` is a stand-in that starts it, and lets the
process wait before or after it appends a certain line to its journal, as long as a gate is shut.
"""

from __future__ import annotations

import json
from pathlib import Path

from waiting import wait_for

FOLDER = "/srv/gate"
# The words: -I -S -B ARCHIVE --mark MARK COMMAND ...
PYTHON = f"""\
#!/bin/sh
if [ "$5" = --mark ]; then
  gate={FOLDER}/command-$7
  if [ -e "$gate.shut" ]; then
    : > "$gate.reached"
    while [ -e "$gate.shut" ]; do sleep 0.05; done
  fi
  if [ "$7" = start ]; then
    shift 3
    exec /usr/bin/python3 -I -S -B {FOLDER}/start.py "$@"
  fi
fi
exec /usr/bin/python3 "$@"
"""
START = f"""\
import json, os, runpy, sys, time

del sys.argv[0]
sys.path.insert(0, sys.argv[0])
from rerig_agent.journal import Journal

GATE = "{FOLDER}/journal"
append = Journal.append


def wait_at(*place):
    try:
        with open(GATE + ".shut") as file:
            if json.load(file) != list(place):
                return
    except FileNotFoundError:
        return
    with open(GATE + ".reached", "w"):
        pass
    while os.path.exists(GATE + ".shut"):
        time.sleep(0.02)


def gated(journal, event, **data):
    wait_at("before", event, data.get("case"))
    append(journal, event, **data)
    wait_at("after", event, data.get("case"))


Journal.append = gated
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class AgentGates:
    """The gates of one machine, in its folder ``/srv/gate``, which is ``folder`` here."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "start.py").write_text(START, "ascii")

    def shut_journal(self, when: str, event: str, case: str | None) -> None:
        """Hold the agent ``before`` or ``after`` it journals this event of this case."""
        self._shut("journal", json.dumps([when, event, case]))

    def shut_command(self, command: str) -> None:
        """Hold every call of this command before it begins."""
        self._shut(f"command-{command}", "")

    def is_reached(self, gate: str) -> bool:
        """Whether somebody stands before ``journal``, ``command-NAME`` or a tool's gate."""
        return (self._folder / f"{gate}.reached").exists()

    def wait_until_reached(self, gate: str) -> None:
        """Return when somebody stands there."""
        wait_for(lambda: self.is_reached(gate), 120)

    def open(self) -> None:
        """Open every gate, those of tools too."""
        for gate in self._folder.glob("*.shut"):
            gate.unlink()

    def _shut(self, gate: str, text: str) -> None:
        (self._folder / f"{gate}.reached").unlink(missing_ok=True)
        aside = self._folder / f".{gate}.new"
        aside.write_text(text, "ascii")
        aside.rename(self._folder / f"{gate}.shut")

"""Tools that stop where a test wants them to: a gate holds dd or fio before it measures, as long as it is shut."""

from __future__ import annotations

from pathlib import Path

from waiting import wait_for

# A call for the version or the engines passes; exec keeps the process that is watched.
_GATED = """\
#!/bin/sh
tool={tool}
gate=/srv/gate/$tool
case "$1" in
  --version | --enghelp*) exec "/usr/bin/$tool" "$@" ;;
esac
if [ -e "$gate.shut" ]; then
  echo >> "$gate.calls"
  if [ "$(wc -l < "$gate.calls")" -gt "$(cat "$gate.shut")" ]; then
    : > "$gate.reached"
    while [ -e "$gate.shut" ]; do sleep 0.05; done
  fi
fi
exec "/usr/bin/$tool" "$@"
"""


def write_gated(program: Path) -> None:
    """A stand-in for /usr/bin/NAME that obeys its gate."""
    program.write_text(_GATED.format(tool=program.name), "utf-8")
    program.chmod(0o755)


class Gates:
    """The gates of one machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def shut(self, tool: str, after: int = 0) -> None:
        """Hold the tool from now on, once ``after`` calls have passed."""
        for word in ("calls", "reached"):
            (self._folder / f"{tool}.{word}").unlink(missing_ok=True)
        (self._folder / f"{tool}.calls").touch()
        (self._folder / f"{tool}.calls").chmod(0o666)
        aside = self._folder / f".{tool}.new"
        aside.write_text(f"{after}\n", "ascii")
        aside.rename(self._folder / f"{tool}.shut")

    def wait_until_reached(self, tool: str) -> None:
        """Return when a call stands before the gate."""
        wait_for((self._folder / f"{tool}.reached").exists, 120)

    def open(self, tool: str) -> None:
        """Let everything pass."""
        (self._folder / f"{tool}.shut").unlink(missing_ok=True)

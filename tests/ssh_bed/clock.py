"""A clock that is wrong, by libfaketime, for all that a machine's sshd starts."""

from __future__ import annotations

from pathlib import Path

# libfaketime breaks clock_nanosleep, which Python's sleep is made of; the calls are those that rerig makes.
PYTHON = """\
#!/bin/sh
while [ "$1" = -I ] || [ "$1" = -S ] || [ "$1" = -B ]; do shift; done
exec /usr/bin/python3 -I -S -B -c '
import runpy, select, sys, time
time.sleep = lambda seconds: select.select((), (), (), max(0, seconds)) and None
del sys.argv[0]
if sys.argv[0] in ("-", "-c"):
    text = sys.stdin.buffer.read() if sys.argv[0] == "-" else sys.argv.pop(1)
    exec(compile(text, "<stdin>", "exec"), {"__name__": "__main__"})
else:
    runpy.run_path(sys.argv[0], run_name="__main__")
' "$@"
"""


def wrong_clock(tools: Path, offset: str) -> dict[str, str]:
    """The variables that make a clock wrong by ``offset`` ("+1h"); steady clocks and file times stay right."""
    library = next((tools / "usr" / "lib").rglob("libfaketime.so.1"))
    return {
        "LD_PRELOAD": f"/{library.relative_to(tools)}",
        "FAKETIME": offset,
        "FAKETIME_SHARED": "/faketime_sem_bed /faketime_shm_bed",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
        "FAKETIME_SKIP_CMDS": "fio",  # which hangs with it, and asks for no time of day
    }

"""tegrastats: replays the personality's lines, a new time in front of each, until it is ended."""

from __future__ import annotations

import itertools
import re
import signal
import sys
import time

from . import board, place

USAGE = "Usage: tegrastats [--interval MILLISECONDS] [--logfile FILE]"
OTHER_LINES = f"{place.RUN}/tegrastats"  # where a test puts lines of its own, before or while it runs
TIME = re.compile(r"^\d\d-\d\d-\d{4} \d\d:\d\d:\d\d")


def main(words: list[str]) -> int:
    words = list(words)
    interval_s, log = 1.0, None
    while words:
        word = words.pop(0)
        if word == "--interval" and words:
            interval_s = int(words.pop(0)) / 1000
        elif word == "--logfile" and words:
            log = words.pop(0)
        else:
            place.die(USAGE)
    settings = board.load()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, signal.SIG_DFL)
    stream = place.path(log).open("a", encoding="utf-8") if log else sys.stdout
    for count in itertools.count():
        lines = (place.read(OTHER_LINES) or "").splitlines()
        lines = lines or settings["tegrastats_as_root" if place.is_root() else "tegrastats"]
        line = lines[count % len(lines)]
        print(TIME.sub(time.strftime("%m-%d-%Y %H:%M:%S"), line), file=stream, flush=True)
        time.sleep(interval_s)
    return 0

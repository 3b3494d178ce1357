"""Lines of fio that report trouble. They stand before, after or between its reports; some hold file names."""

from __future__ import annotations

import re

__all__ = ["fio_errors"]

_LONGEST_LINE = 4000
# "fio: pid=1, err=5/file:io_u.c:1896, func=io_u error, error=Input/output error", and in text reports "err=22 (file:…".
_ERROR_NUMBER = re.compile(r"\berr= ?[1-9][0-9]{0,9}\b|\bfunc=\S[^\n]{0,200}\berror=\S")
# What fio says of itself is trouble, but for these. Without --readonly on a file of another user it can't drop the
# page cache, and goes on; with O_DIRECT that changes nothing.
_HARMLESS = (
    "fio: cache invalidation of ",
    "fio: file hash not empty on exit",
    "fio: this platform does not support process shared mutexes",
    "fio: any use of blockalign= turns off randommap",
    "fio: clocksource=cpu may not be reliable",
    "fio: --latency-log is deprecated",
    "fio: Switching to tausworthe64",
    "fio: disabling status file updates",
)
# Trouble that doesn't begin with "fio: ".
_OTHER_TROUBLE = re.compile(
    r"(?:client: .{0,300}(?:disconnected|timed out|refused)|verify: |.{0,300}: verify failed at |[Bb]ad option "
    r"|.{0,300}: No I/O performed by |.{0,300}: you need to specify |.{0,300} is not a valid I/O engine)"
)


def fio_errors(text: str) -> list[str]:
    """The lines of fio's output that report an error, in order, without the report itself.

    For output of which no report is left it is all that can be read.
    """
    return [line for line in map(str.strip, re.split(r"[\r\n]+", text)) if _is_trouble(line)]


def _is_trouble(line: str) -> bool:
    if not line or len(line) > _LONGEST_LINE or line.startswith(_HARMLESS):
        return False
    if line.startswith("fio: "):
        return True
    # In the report itself the words stand in quotes.
    return not line.startswith('"') and bool(_ERROR_NUMBER.search(line) or _OTHER_TROUBLE.match(line))

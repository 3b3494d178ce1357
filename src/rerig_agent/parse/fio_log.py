"""Lines of fio that report trouble. They stand before, after or between its reports; some hold file names."""

from __future__ import annotations

import re

__all__ = ["fio_errors"]

_LONGEST_LINE = 4000
# "fio: pid=1, err=5/file:io_u.c:1896, func=io_u error, error=Input/output error", and in text reports "err=22 (file:…".
_ERROR_NUMBER = re.compile(r"\berr= ?[1-9][0-9]{0,9}\b|\bfunc=\S[^\n]{0,200}\berror=\S")
# What fio says of itself is trouble, but for these. Of another user's file it can't drop the page cache, and goes on;
# a lower depth shows in the depths that it reached.
_HARMLESS = re.compile(
    r"fio: (?:cache invalidation of |fadvise hint failed|file hash not empty on exit|lower depth to "
    r"|file .{1,4000} exceeds 32-bit tausworthe random generator|Switching to tausworthe64"
    r"|this platform does not support process shared mutexes|[Aa]ny use of blockalign= turns off randommap"
    r"|clocksource=cpu may not be reliable|--latency-log is deprecated|disabling status file updates)"
)
# Trouble that doesn't begin with "fio: ".
_OTHER_TROUBLE = re.compile(
    r"(?:[Ee]rror:? |verify: |[Bb]ad option |(?:IO e|E)ngine .{1,200} not found"
    r"|client: .{0,300}(?:disconnected|timed out|refused)"
    r"|.{0,300}: (?:verify failed at |No I/O performed by |you need to specify |unrecognized option ))"
)


def fio_errors(text: str) -> list[str]:
    """The lines of fio's output that report an error, in order, without the report itself.

    For output of which no report is left it is all that can be read.
    """
    return [line for line in map(str.strip, re.split(r"[\r\n]+", text)) if _is_trouble(line)]


def _is_trouble(line: str) -> bool:
    if not line or len(line) > _LONGEST_LINE or _HARMLESS.match(line):
        return False
    if line.startswith("fio: "):
        return True
    # In the report itself the words stand in quotes.
    return not line.startswith('"') and bool(_ERROR_NUMBER.search(line) or _OTHER_TROUBLE.match(line))

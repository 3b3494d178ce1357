"""/var/lib/dpkg/status: paragraphs of "Field: value" (deb-control(5)), one a package."""

from __future__ import annotations

import re

_VERSION = re.compile(r"^Version:[ \t]*([0-9A-Za-z.+:~-]{1,100})[ \t]*$", re.MULTILINE)
_INSTALLED = re.compile(r"^Status:[ \t]*\w+ \w+ installed[ \t]*$", re.MULTILINE)


def parse_packages(text: str, names: str) -> dict[str, str]:
    """{package: version} of the installed packages whose whole name matches the pattern ``names``."""
    found = {}
    for match in re.finditer(rf"^Package:[ \t]*({names})[ \t]*$", text, re.MULTILINE):
        end = text.find("\n\n", match.end())
        paragraph = text[match.start() : end if end >= 0 else len(text)]
        version = _VERSION.search(paragraph)
        if version and _INSTALLED.search(paragraph):
            found[match.group(1)] = version.group(1)
    return found

"""/var/lib/dpkg/status: paragraphs of "Field: value" (deb-control(5)), one a package."""

from __future__ import annotations

import re

_PACKAGE = re.compile(r"^Package:[ \t]*([0-9a-z.+-]{1,100})[ \t]*$", re.MULTILINE)
# With the line's end: the list's last line can be cut off.
_VERSION = re.compile(r"^Version:[ \t]*([0-9A-Za-z.+:~-]{1,100})[ \t]*\n", re.MULTILINE)
_INSTALLED = re.compile(r"^Status:[ \t]*\w+ \w+ installed[ \t]*$", re.MULTILINE)


def parse_packages(text: str, names: str) -> dict[str, str]:
    """{package: version} of the installed packages whose whole name matches the pattern ``names``.

    Raises nothing: a list of other form has no package of these names.
    """
    found = {}
    wanted = re.compile(names)
    *whole, last = re.split(r"\n[ \t\r]*\n", text)
    for paragraph in (*(f"{one}\n" for one in whole), last):
        package = _PACKAGE.search(paragraph)
        if package and wanted.fullmatch(package.group(1)) and _INSTALLED.search(paragraph):
            version = _VERSION.search(paragraph)
            if version:
                found[package.group(1)] = version.group(1)
    return found

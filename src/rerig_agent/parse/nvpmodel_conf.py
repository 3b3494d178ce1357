"""nvpmodel's configuration (/etc/nvpmodel.conf): parameters with their files, power models with their values.

Its syntax stands in its own header: ``< PARAM TYPE=FILE|CLOCK NAME=x >`` with lines ``ARGUMENT PATH`` (``…_KNEXT``: the
path on kernels from 5.15 on), ``< PARAM TYPE=HWMON NAME=x >`` with lines ``ARGUMENT FOLDER FILE``,
``< POWER_MODEL ID=n NAME=s >`` with lines ``PARAMETER ARGUMENT VALUE``, ``< PM_CONFIG DEFAULT=n >``. Blanks inside the
brackets are free: the real files have a ``<PARAM``.
"""

from __future__ import annotations

import re
from typing import Any

from . import ParseError
from .lines import split_lines
from .numbers import signed, whole

WHAT = "configuration of nvpmodel"
NEXT = "_KNEXT"
NO_CAP = -1
# NVIDIA's own reader (nvpmodel's indicator for the desktop) takes letters, digits and these.
NAME = r"[A-Za-z0-9_.()|+-]{1,64}"
_WORD = re.compile(rf"{NAME}\Z")


def parse_conf(text: str) -> dict[str, Any]:
    """-> {"params": {name: {"type", "paths": {argument: path}}}, "models": [{"id", "name", "settings"}],
    "default": id}.

    ``settings`` is {"GPU MAX_FREQ": value}: an int where it is one (Hz, kHz or a mask as the parameter has it; -1: no
    cap), else the word. Arguments of ``paths`` keep their _KNEXT; those of type HWMON are left out, as no name of their
    folder stays the same. ``default`` is None where none is named. Sections of other kinds (FAN_CONFIG) are left out.
    ParseError: no power model, two of one id or name, or a line that belongs to no section.
    """
    params: dict[str, dict[str, Any]] = {}
    models: list[dict[str, Any]] = []
    defaults: set[int] = set()
    section, is_hwmon = "", False
    current: dict[str, Any] = {}
    for whole_line in split_lines(text, WHAT):
        line = whole_line.partition("#")[0].strip()
        if line.startswith("<"):
            section, words = _section(line)
            if section == "PARAM":
                current = {}
                is_hwmon = words.get("TYPE") == "HWMON"
                params[_word(words, "NAME")] = {"type": words.get("TYPE"), "paths": current}
            elif section == "POWER_MODEL":
                current = {}
                models.append(
                    {"id": whole(_word(words, "ID"), "a mode's id"), "name": _word(words, "NAME"), "settings": current}
                )
            elif section == "PM_CONFIG" and "DEFAULT" in words:
                defaults.add(whole(words["DEFAULT"], "the default mode"))
        elif section == "PARAM" and line:
            argument, path, *file = _split(line, 3 if is_hwmon else 2)
            if not file:
                current[argument] = path
        elif section == "POWER_MODEL" and line:
            parameter, argument, value = _split(line, 3)
            current[f"{parameter} {argument}"] = _value(value)
        elif line and not section:
            raise ParseError(f"this is no {WHAT}: a line stands in no section")
    _check(models, defaults)
    return {"params": params, "models": models, "default": defaults.pop() if defaults else None}


def path_candidates(conf: dict[str, Any], setting: str) -> list[str]:
    """The paths that "GPU MAX_FREQ" may stand for, the newer kernels' first; empty for what has none."""
    parameter, _, argument = setting.partition(" ")
    paths = conf["params"].get(parameter, {}).get("paths", {})
    return [paths[name] for name in (argument + NEXT, argument) if name in paths]


def _section(line: str) -> tuple[str, dict[str, str]]:
    words = line[1:-1].split()
    if not line.endswith(">") or len(words) < 2 or "<" in line[1:] or ">" in line[:-1]:
        raise ParseError("a section of nvpmodel's configuration is torn")
    return words[0], dict(word.partition("=")[::2] for word in words[1:])


def _word(words: dict[str, str], key: str) -> str:
    value = words.get(key, "")
    if not _WORD.match(value):
        raise ParseError(f"a section of nvpmodel's configuration lacks its {key}")
    return value


def _split(line: str, number: int) -> list[str]:
    words = line.split()
    if len(words) != number:
        raise ParseError("a line of nvpmodel's configuration is torn")
    return words


def _value(word: str) -> int | str:
    try:
        return signed(word, "a value")
    except ParseError:
        return word


def _check(models: list[dict[str, Any]], defaults: set[int]) -> None:
    ids, names = [model["id"] for model in models], [model["name"] for model in models]
    if not models or len(set(ids)) < len(ids) or len(set(names)) < len(names):
        raise ParseError("nvpmodel's configuration names no power model, or one twice")
    if len(defaults) > 1 or not defaults <= set(ids):
        raise ParseError("the default mode of nvpmodel's configuration is none of its modes")

"""nvpmodel's configuration (/etc/nvpmodel.conf): parameters with their files, power models with their values.

Its syntax stands in its own header: ``< PARAM TYPE=FILE|CLOCK NAME=x >`` with lines ``ARGUMENT PATH`` (``…_KNEXT``: the
path on kernels from 5.15 on), ``< POWER_MODEL ID=n NAME=s >`` with lines ``PARAMETER ARGUMENT VALUE``, ``< PM_CONFIG
DEFAULT=n >``.
"""

from __future__ import annotations

import re
from typing import Any

from . import ParseError
from .numbers import signed, whole

NEXT = "_KNEXT"
NO_CAP = -1
_SECTION = re.compile(r"<\s*(\w{1,40})\s+([^<>]{1,200}?)\s*>\Z")
_WORD = re.compile(r"[A-Za-z0-9_]{1,64}\Z")
_LINES = 10_000


def parse_conf(text: str) -> dict[str, Any]:
    """-> {"params": {name: {"type", "paths": {argument: path}}}, "models": [{"id", "name", "settings"}],
    "default": id}.

    ``settings`` is {"GPU MAX_FREQ": value}: an int where it is one (Hz, kHz or a mask as the parameter has it; -1: no
    cap), else the word. Arguments of ``paths`` keep their _KNEXT. ``default`` is None where none is named. ParseError:
    no power model, two of one id or name, or a line that belongs to none.
    """
    params: dict[str, dict[str, Any]] = {}
    models: list[dict[str, Any]] = []
    default: int | None = None
    section, lines = "", text.split("\n")
    if len(lines) > _LINES:
        raise ParseError("this is no configuration of nvpmodel: it is too long")
    for line in lines:
        line = line.partition("#")[0].strip()
        if not line:
            continue
        if line.startswith("<"):
            section, words = _section(line)
            if section == "PARAM":
                params[_word(words, "NAME")] = {"type": words.get("TYPE"), "paths": {}}
                current = params[words["NAME"]]
            elif section == "POWER_MODEL":
                models.append(
                    {"id": whole(_word(words, "ID"), "a mode's id"), "name": _word(words, "NAME"), "settings": {}}
                )
            elif section == "PM_CONFIG" and "DEFAULT" in words:
                default = whole(words["DEFAULT"], "the default mode")
        elif section == "PARAM":
            argument, path = _split(line, 2)
            current["paths"][argument] = path
        elif section == "POWER_MODEL":
            parameter, argument, value = _split(line, 3)
            models[-1]["settings"][f"{parameter} {argument}"] = _value(value)
    _check(models, default)
    return {"params": params, "models": models, "default": default}


def path_candidates(conf: dict[str, Any], setting: str) -> list[str]:
    """The paths that "GPU MAX_FREQ" may stand for, the newer kernels' first; empty for what has none."""
    parameter, _, argument = setting.partition(" ")
    paths = conf["params"].get(parameter, {}).get("paths", {})
    return [paths[name] for name in (argument + NEXT, argument) if name in paths]


def _section(line: str) -> tuple[str, dict[str, str]]:
    match = _SECTION.match(line)
    if match is None:
        raise ParseError("a section of nvpmodel's configuration is torn")
    words = dict(word.partition("=")[::2] for word in match.group(2).split())
    return match.group(1), words


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


def _check(models: list[dict[str, Any]], default: int | None) -> None:
    ids, names = [model["id"] for model in models], [model["name"] for model in models]
    if not models or len(set(ids)) < len(ids) or len(set(names)) < len(names):
        raise ParseError("nvpmodel's configuration names no power model, or one twice")
    if default is not None and default not in ids:
        raise ParseError("the default mode of nvpmodel's configuration is none of its modes")

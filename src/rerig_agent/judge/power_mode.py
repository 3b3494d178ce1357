"""Which power mode is set, by its name in the active file, and whether its values are in force."""

from __future__ import annotations

from typing import Any

from ..parse import ParseError
from ..parse.nvpmodel import parse_status
from ..parse.nvpmodel_conf import parse_conf
from .board import text_of
from .power_caps import compare
from .public_power import public_file

MASK = "TPC_POWER_GATING TPC_PG_MASK"


def judge_mode(jetson: dict[str, Any]) -> dict[str, Any]:
    """{"name", "id", "conf", "modes": {name: id}, "default", "needs_reboot": [names], "applied": bool or None,
    "differences": [{"what", "path", "real", "conf"}]}.

    ``needs_reboot``: modes that gate other clusters of the GPU than the present one, which nvpmodel does at boot only.
    ``conf``: the active file's name, None for one that NVIDIA has no file of.
    """
    empty: dict[str, Any] = {"name": None, "id": None, "conf": None, "modes": {}, "default": None}
    empty.update(needs_reboot=[], applied=None, differences=[])
    try:
        conf = parse_conf(text_of(jetson, "conf") or "")
    except ParseError:
        return empty
    names = {model["id"]: model["name"] for model in conf["models"]}
    model = _present(jetson, conf)
    known: dict[str, Any] = {
        **empty,
        "conf": _file_name(jetson),
        "modes": {name: number for number, name in names.items()},
        "default": names.get(conf["default"]),
    }
    if model is None:
        return known
    mask = model["settings"].get(MASK)
    looked, differences = compare(jetson, conf, model)
    return {
        **known,
        "name": model["name"],
        "id": model["id"],
        "needs_reboot": [other["name"] for other in conf["models"] if other["settings"].get(MASK) != mask],
        "applied": not differences if looked else None,
        "differences": differences,
    }


def _present(jetson: dict[str, Any], conf: dict[str, Any]) -> dict[str, Any] | None:
    try:
        number = parse_status(text_of(jetson, "files", "nvpmodel_status") or "")["id"]
    except ParseError:
        return None
    return next((model for model in conf["models"] if model["id"] == number), None)


def _file_name(jetson: dict[str, Any]) -> str | None:
    conf = jetson.get("conf")
    link = conf.get("link") if isinstance(conf, dict) else None
    return public_file(link.rpartition("/")[2] if isinstance(link, str) else None)

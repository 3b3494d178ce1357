"""nvpmodel's configuration files: parameters with their paths, power models with their values, the default."""

from __future__ import annotations

import re
from typing import NamedTuple

# "<PARAM" without a blank stands in the real files.
SECTION = re.compile(r"<\s*(PARAM|POWER_MODEL|PM_CONFIG|FAN_CONFIG)\s+([^>]*?)\s*>")
NEXT = "_KNEXT"  # the path on kernels from 5.15 on


class Parameter(NamedTuple):
    """``kind`` is FILE or CLOCK; ``paths`` has the paths of the arguments: MAX_FREQ and so on."""

    name: str
    kind: str
    paths: dict[str, str]


class Setting(NamedTuple):
    parameter: str
    argument: str
    value: str


class PowerModel(NamedTuple):
    id: int
    name: str
    settings: list[Setting]


class Conf(NamedTuple):
    parameters: dict[str, Parameter]
    models: dict[int, PowerModel]
    default: int

    def path(self, setting: Setting) -> str:
        return self.parameters[setting.parameter].paths[setting.argument]


def parse(text: str, newer_kernel: bool = True) -> Conf:
    """Raises ValueError for what is no configuration. ``newer_kernel``: paths named …_KNEXT go before the others."""
    parameters: dict[str, Parameter] = {}
    models: dict[int, PowerModel] = {}
    default: int | None = None
    section: str | None = None
    name = ""
    model = PowerModel(-1, "", [])
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        match = SECTION.match(line)
        if match:
            section = match.group(1)
            words = dict(word.partition("=")[::2] for word in match.group(2).split())
            if section == "PARAM":
                name = words["NAME"]
                parameters[name] = Parameter(name, words["TYPE"], {})
            elif section == "POWER_MODEL":
                model = PowerModel(int(words["ID"]), words["NAME"], [])
                models[model.id] = model
            elif section == "PM_CONFIG":
                default = int(words["DEFAULT"])
        elif line and section == "PARAM":
            argument, where = line.split(None, 1)
            parameters[name].paths[argument] = where
        elif line and section == "POWER_MODEL":
            model.settings.append(Setting(*line.split(None, 2)))
    if not models or default not in models:
        raise ValueError("no power model, or a default that is none")
    return Conf({key: _for_kernel(value, newer_kernel) for key, value in parameters.items()}, models, default)


def _for_kernel(parameter: Parameter, newer: bool) -> Parameter:
    paths = {argument: where for argument, where in parameter.paths.items() if not argument.endswith(NEXT)}
    if newer:
        for argument in paths:
            paths[argument] = parameter.paths.get(argument + NEXT, paths[argument])
    return parameter._replace(paths=paths)

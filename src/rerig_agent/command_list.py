"""Every command line that a plan would run, as a person can paste it into a shell."""

from __future__ import annotations

import json
import sys
from typing import Any

from .cases import build_argv, power_budget
from .cases.fio_read import ALIAS_NAME
from .prepared import planned_path
from .shell_words import shell_word


def list_commands(plan: dict[str, Any], as_json: bool) -> int:
    """Print them; as JSON, since a file's name may hold newlines, where that is asked for."""
    lines = []
    for case in plan["cases"]:
        if case["identity"]["kind"] == power_budget.KIND:
            gpu = " ".join(map(shell_word, case["parameters"]["gpu_load"] or []))
            lines += [power_budget.describe(case) + gpu] * len(case["repeats"])
            continue
        path = planned_path(plan, case)
        for repeat in case["repeats"]:
            argv = build_argv(case, repeat, path)
            line = " ".join(map(shell_word, argv))
            if "--filename=" + ALIAS_NAME in argv:  # fio would change this name, so it gets a link
                link = ["ln", "-sfn", path, ALIAS_NAME]
                line = "{} && {}".format(" ".join(map(shell_word, link)), line)
            lines.append("{}{}".format("# skipped: " if case.get("skip") else "", line))
    if as_json:
        json.dump(lines, sys.stdout)
        print()
    else:
        for line in lines:
            print(line.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    return 0

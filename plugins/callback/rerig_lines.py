"""Writes what became of each task to a file, a JSON object a line, beside whatever else shows the progress.

``./inv provision`` and ``./inv restore`` switch it on for their own call: ANSIBLE_CALLBACKS_ENABLED names it and
RERIG_PLAY_LINES its file. Two kinds of lines:

{"event": "task", "host", "role" (or null), "task", "status": ok | changed | skipped | failed | ignored | unreachable,
 "said": a failure's message or null, "facts": {"changed_what", "reboot_required"} as far as the role set them,
 "look": {"verdict", "cause"} where the task looked at the machine, "remote": whether the host was asked}
{"event": "end", "hosts": {name: Ansible's own counts}}
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: rerig_lines
type: aggregate
short_description: Write the results of tasks to a file, for a program
description:
  - A JSON object a line. The results themselves stay out of it, but for what a role says of itself and why it failed.
options:
  file:
    description: The file that gets the lines.
    env:
      - name: RERIG_PLAY_LINES
    type: path
    required: true
"""

FACTS = ("changed_what", "reboot_required")
# Actions that the controller answers by itself.
LOCAL = ("assert", "debug", "fail", "set_fact", "meta", "include_tasks", "include_role", "validate_argument_spec")
NO_NEWS = "non-zero return code"


class CallbackModule(CallbackBase):
    """What Ansible tells of a play."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "rerig_lines"
    CALLBACK_NEEDS_ENABLED = True

    def v2_runner_on_ok(self, result: Any) -> None:
        self._write_task(result, "changed" if _values(result).get("changed") else "ok")

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._write_task(result, "ignored" if ignore_errors else "failed")

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._write_task(result, "unreachable")

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._write_task(result, "skipped")

    def v2_playbook_on_stats(self, stats: Any) -> None:
        self._write({"event": "end", "hosts": {host: stats.summarize(host) for host in stats.processed}})

    def _write_task(self, result: Any, status: str) -> None:
        task = _part(result, "task")
        role = task._role.get_name() if task._role else None
        values = _values(result)
        action = task.action.rpartition(".")[2]
        facts = values.get("ansible_facts") if action == "set_fact" else None
        line = {
            "event": "task",
            "host": _part(result, "host").get_name(),
            "role": role,
            "task": task.get_name().rpartition(" : ")[2],
            "status": status,
            "said": said(values) if status in ("failed", "ignored", "unreachable") else None,
            "remote": status != "skipped" and action not in LOCAL,
        }
        if role and facts:
            line["facts"] = {fact: facts[f"{role}_{fact}"] for fact in FACTS if f"{role}_{fact}" in facts}
        if action == "board_state" and isinstance(values.get("super"), dict):
            line["look"] = {key: values["super"].get(key) for key in ("verdict", "cause")}
        self._write(line)

    def _write(self, line: dict[str, Any]) -> None:
        with Path(self.get_option("file")).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, default=str) + "\n")


def said(values: dict[str, Any]) -> str:
    """Why a task failed: of a loop its first item's message, of a command the last thing that it said itself."""
    items = values.get("results")
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and (item.get("failed") or item.get("unreachable")):
            return said(item)
    text = str(values.get("msg") or values.get("censored") or "")
    if text and not text.startswith(NO_NEWS):
        return text
    own = [line for name in ("stdout", "stderr") for line in str(values.get(name) or "").splitlines() if line.strip()]
    return own[-1].strip() if own else text


def _values(result: Any) -> dict[str, Any]:
    values = _part(result, "result")
    return values if isinstance(values, dict) else {}


def _part(result: Any, name: str) -> Any:
    """Ansible 2.17 has the older name alone, with an underscore before it."""
    return getattr(result, name) if hasattr(result, name) else getattr(result, f"_{name}")

"""What a host is to be like: the roles' defaults with the inventory's values over them, filled in by Ansible itself."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rerig.checkout import ROOT
from rerig.errors import UserError
from rerig.inventory import ansible_environment, complaint
from rerig.text import bounded, printable

# Whose defaults say what the known state is.
ROLES = ("board_state", "power_mode", "headless")
PYTHON = "ansible_python_interpreter"
# How the host is reached, which may be templates too, and which testinfra would take as they stand.
REACH = (
    "ansible_host",
    "ansible_port",
    "ansible_user",
    "ansible_ssh_common_args",
    "ansible_ssh_extra_args",
    "ansible_ssh_private_key_file",
    "ansible_private_key_file",
    "ansible_become",
    "ansible_become_user",
)
LIMIT_S = 120
THIS_MACHINE = "localhost"
ZRAM = ("keep", "off", "swapfile")
TEXTS = ("board_state_root", "power_mode_name", "headless_target", "headless_swapfile_path")
MARKED = re.compile(r"@@rerig ([A-Za-z0-9+/=]+) rerig@@")
# A role of the same name as none of ours, with their defaults: what Ansible lets an inventory override.
ROLE = "known_state"


def desired_values(inventory: str | None, host: str) -> dict[str, Any]:
    """The values for one host: {variable of a role: value}; see :func:`render_desired`."""
    return render_desired(inventory, [host])[host]


def render_desired(inventory: str | None, hosts: list[str]) -> dict[str, dict[str, Any]]:
    """{host: {variable: value}} of the inventory's ``hosts`` (None: Ansible's own default one), by one call of Ansible.

    Every default of ROLES, ``ansible_python_interpreter`` ("" where it is found out), and of REACH what is set. No host
    is connected to. Raises UserError, one sentence, for what can't be filled in or makes no sense.
    """
    defaults = role_defaults()
    with tempfile.TemporaryDirectory(prefix="rerig-ansible-") as scratch:
        play = _write_play(Path(scratch), hosts, defaults)
        command = [sys.executable, "-I", "-m", "ansible", "playbook", str(play)]
        command += ["--inventory", inventory] if inventory is not None else []
        command += ["--extra-vars", json.dumps({"ansible_connection": "local"})]  # whatever it is, nothing is reached
        environment = {
            **ansible_environment(scratch),
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_STDOUT_CALLBACK": "default",
            "ANSIBLE_CALLBACK_RESULT_FORMAT": "json",
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        }
        try:
            done = subprocess.run(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=LIMIT_S,
            )
        except subprocess.TimeoutExpired as error:
            raise UserError(f"The inventory's values were not filled in within {LIMIT_S} s.") from error
    output = done.stdout.decode("utf-8", "replace")
    found = {told["host"]: _without_unset(told["values"]) for told in map(_told, MARKED.findall(output))}
    for host in hosts:
        if host not in found:
            raise UserError(_reason(host, output, done.stderr))
        if found[host]["headless_zram"] in (False, "False"):  # what YAML makes of a bare off, which the role takes too
            found[host]["headless_zram"] = "off"
        check_values(host, found[host])
    return {host: found[host] for host in hosts}


def role_defaults() -> dict[str, Any]:
    """The defaults of ROLES as they stand, templates included."""
    import yaml

    found: dict[str, Any] = {}
    for role in ROLES:
        path = ROOT / "roles" / role / "defaults" / "main.yml"
        found.update(yaml.safe_load(path.read_text("utf-8")) or {})
    return found


def _write_play(scratch: Path, hosts: list[str], defaults: dict[str, Any]) -> Path:
    """A play that shows the values; JSON is YAML."""
    folder = scratch / "roles" / ROLE / "defaults"
    folder.mkdir(parents=True)
    (folder / "main.yml").write_text(json.dumps(defaults), "utf-8")
    values = ", ".join(f"'{name}': {name}" for name in defaults)
    values += f", '{PYTHON}': {PYTHON} | default('')"
    values += "".join(f", '{name}': {name} | default(none)" for name in REACH)
    shown = f"{{{{ {{'host': inventory_hostname, 'values': {{{values}}}}} | to_json | b64encode }}}}"
    task = {"name": "Show", "ansible.builtin.debug": {"msg": f"@@rerig {shown} rerig@@"}}
    play = scratch / "desired.yml"
    play.write_text(
        json.dumps([{"name": "Values", "hosts": hosts, "gather_facts": False, "roles": [ROLE], "tasks": [task]}]),
        "utf-8",
    )
    return play


def _told(encoded: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(base64.b64decode(encoded))
    return told


def _without_unset(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in REACH or value is not None}


def _reason(host: str, output: str, errors: bytes) -> str:
    name = printable(host)
    failed = re.search(rf"fatal: \[{re.escape(host)}\].*?\"msg\": (\"(?:[^\"\\]|\\.)*\")", output, re.DOTALL)
    if failed:
        said = " ".join(str(json.loads(failed[1])).split())
        return f"The values of {name} in the inventory can't be filled in: {printable(bounded(said, 200)).rstrip('.')}."
    if re.search("no hosts matched", output):
        return f"The inventory has no host {name}."
    return f"The values of {name} in the inventory can't be filled in: {complaint(errors)}."


def check_values(host: str, values: dict[str, Any]) -> None:
    """Raises UserError for a value that no role would take."""
    wrong = [name for name in TEXTS if not isinstance(values[name], str) or not values[name]]
    if wrong:
        raise UserError(f"{printable(host)}: {wrong[0]} of the inventory must be a word.")
    if values["headless_zram"] not in ZRAM:
        shown = printable(bounded(str(values["headless_zram"]), 40))
        can = ", ".join(ZRAM)
        raise UserError(f"{printable(host)}: headless_zram of the inventory is {shown}; it can be {can}.")
    stopped = values["headless_stopped_services"]
    if not isinstance(stopped, list) or not all(isinstance(unit, str) for unit in stopped):
        raise UserError(f"{printable(host)}: headless_stopped_services of the inventory must be a list of names.")

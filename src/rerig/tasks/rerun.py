"""``./inv rerun``: measure, prove, compare, keep; on this machine or on others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from invoke.context import Context
from invoke.tasks import task

if TYPE_CHECKING:
    from rerig.hosts import Host
    from rerig.options import Output
    from rerig.rerun import Request


@task(
    iterable=["path", "label", "host", "attach", "resume"],
    help={
        "path": "A file of yours to measure, read-only; repeat it for several, shown side by side with ratios. "
        "Without it a scratch file is made, measured and removed.",
        "suite": "What to measure: the name of a file in suites/ or a path (default: storage).",
        "scratch": "The directory of the scratch file (default: the current one; on another machine, rerig's own).",
        "out": "Where the run directory with result.json and the raw outputs is kept (default: runs).",
        "label": "A note kept with the result as you typed it, e.g. nas='4-bay, 10GbE'; repeat it for several.",
        "repeats": "Repeats of every case (default: as the suite says).",
        "size": "The most that is used of each file; also the scratch file's size, e.g. 1G (default: the suite's).",
        "gpu-load": "For the suite power-budget: the command that loads the GPU, e.g. '/opt/burn --seconds 120'; it is "
        "started without a shell and ended with the load.",
        "plan-only": "Print every command that would run, with its time and bytes, and stop.",
        "json": "Print the result (or, with --plan-only, the plan) as JSON instead of tables; of several, an array.",
        "quiet": "No progress and no table: print only where the result is.",
        "install-tools": "First let the Ansible role bench_tools install what is missing (asks for sudo if needed).",
        "host": "Measure on another machine: user@box, box:2222, an alias of ssh_config, or a host or group of the "
        "inventory; repeat it for several. Its host key must be in known_hosts.",
        "inventory": "The Ansible inventory that --host is looked up in (default: as ansible.cfg says).",
        "serial": "Measure one machine after the other, for those that read from the same server.",
        "sudo": "Measure as root on the other machines; a password is asked once if sudo wants one, and never kept.",
        "attach": "Follow a run that goes on on another machine, and bring its result home; repeat it for several.",
        "resume": "Go on with a run that was stopped or killed, at its first unfinished case; repeat it for several.",
    },
)
def rerun(
    _context: Context,
    path: list[str],
    label: list[str],
    host: list[str],
    attach: list[str],
    resume: list[str],
    suite: str = "storage",
    scratch: str = "",
    out: str = "runs",
    repeats: str = "",
    size: str = "",
    gpu_load: str = "",
    plan_only: bool = False,
    json: bool = False,
    quiet: bool = False,
    install_tools: bool = False,
    inventory: str = "",
    serial: bool = False,
    sudo: bool = False,
) -> None:
    """Rerun a published measurement, on this machine or others, and compare it with the published figures.

    Reads files (O_DIRECT, read-only) and shows where the bytes came from; result and raw outputs are kept in --out.
    """
    from rerig.options import Output

    output, folder = Output(json, quiet), Path(out)
    hosts = _hosts(host, inventory, sudo)
    if attach or resume:
        from rerig.pickup import pick_up

        texts = {"path": path, "label": label, "scratch": scratch, "repeats": repeats, "size": size}
        texts["gpu-load"] = gpu_load
        switches = {"suite": suite != "storage", "plan-only": plan_only, "install-tools": install_tools}
        given = [flag for flag, value in [*texts.items(), *switches.items()] if value]
        status = pick_up(attach, resume, given, hosts, folder, output)
    else:
        request = _request(path, scratch, suite, label, repeats, size, gpu_load)
        if install_tools:
            _install_tools(hosts)
        status = _measure(hosts, request, folder, output, plan_only, serial)
    if status:
        sys.exit(status)


def _request(
    path: list[str], scratch: str, suite: str, label: list[str], repeats: str, size: str, gpu_load: str
) -> Request:
    from rerig import sizes
    from rerig.options import parse_command, parse_labels, parse_repeats
    from rerig.rerun import Request

    return Request(
        paths=list(path),
        scratch=scratch or None,
        suite=suite,
        labels=parse_labels(label),
        repeats=parse_repeats(repeats),
        size_bytes=sizes.parse_size(size) if size else None,
        gpu_load=parse_command(gpu_load),
    )


def _hosts(words: list[str], inventory: str, sudo: bool) -> list[Host]:
    if not words and not inventory and not sudo:
        return []  # the common road imports nothing of other machines
    from rerig.meeting import hosts_of

    return hosts_of(words, inventory, sudo)


def _measure(hosts: list[Host], request: Request, out: Path, output: Output, plan_only: bool, serial: bool) -> int:
    if len(hosts) <= 1 and all(host.local for host in hosts):
        from rerig import local_run

        return local_run.measure(request, out, output, plan_only)
    from rerig import fleet_run

    return fleet_run.measure(hosts, request, out, output, plan_only, serial)


def _install_tools(hosts: list[Host]) -> None:
    from rerig.errors import UserError
    from rerig.provision import install_tools

    if not all(host.local for host in hosts):
        raise UserError(
            "--install-tools is for this machine; on others: ansible-playbook -i INVENTORY playbooks/tools.yml.", 2
        )
    install_tools()

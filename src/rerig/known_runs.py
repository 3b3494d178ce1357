"""Which run a word names, and where it is: in a folder here, or on a machine that was noted or is named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from rerig.errors import UserError
from rerig.hosts import Host
from rerig.remote import ledger
from rerig.store import run_word
from rerig.text import bounded, printable


@dataclass(frozen=True)
class KnownRun:
    """``run_dir``: where the run, or its copy, is or will be here. ``host``: the other machine that it is on."""

    run_dir: Path
    host: Host | None = None

    @property
    def run_id(self) -> str:
        """The name of its directory."""
        return self.run_dir.name

    @property
    def word(self) -> str:
        """What the user types to name it."""
        return run_word(self.run_dir)


def find_run(word: str, out: Path, host: Host | None = None) -> KnownRun:
    """The run that ``word`` names: an id (then it belongs into ``out``), or the path of its directory here.

    ``host``: the machine that the user named with it. A run that is noted to be on another machine is that one, also
    where a copy is here. Raises UserError for what is no run or not known.
    """
    run_dir = _run_dir(word, out)
    if not is_run(run_dir):
        ledger.check_run_id(run_dir.name)
    entry = _entry(run_dir)
    if host is not None and not host.local:
        as_root = host.sudo or (entry is not None and entry.name == host.name and entry.sudo)
        return KnownRun(run_dir, replace(host, sudo=as_root))
    if entry is not None and host is None:
        return KnownRun(run_dir, entry.host())
    if is_run(run_dir):
        return KnownRun(run_dir)
    raise UserError(
        f"There is no run {bounded(printable(run_dir.name), 80)} in {printable(str(run_dir.parent))}, and no machine "
        "is noted for it: ./inv runs.list shows what is known, and --host NAME looks on a machine."
    )


def is_run(directory: Path) -> bool:
    """Whether it looks like a run directory."""
    return (directory / "plan.json").is_file()


def find_runs(words: list[str], out: Path, hosts: list[Host]) -> list[KnownRun]:
    """The runs that ``words`` name, each once; ``hosts``: none, or the machine that all of them are on."""
    if len(hosts) > 1:
        names = ", ".join(printable(host.name) for host in hosts)
        raise UserError(f"A run is on one machine, and --host names {len(hosts)}: {names}.", 2)
    return list(dict.fromkeys(find_run(word, out, hosts[0] if hosts else None) for word in words))


def _run_dir(word: str, out: Path) -> Path:
    path, in_out = Path(word), out / (word or ledger.check_run_id(word))
    if word.strip(".") and "/" not in word and (is_run(in_out) or _entry(in_out) is not None or not is_run(path)):
        return in_out
    return path if path.name not in ("", "..") else path.resolve()


def _entry(run_dir: Path) -> ledger.Entry | None:
    return ledger.read_entry(run_dir.parent, run_dir.name) if ledger.RUN_ID.fullmatch(run_dir.name) else None

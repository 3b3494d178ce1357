"""Puts a personality onto a running twin, takes it off again, and says which of its values are at their real paths."""

from __future__ import annotations

import json
from collections.abc import Mapping

from twin import shell as twin_shell
from twin.l4t import content, units
from twin.l4t.files.twin_l4t.tree import File, Link
from twin.l4t.values import Personality
from twin.shell import Shell

SPARE = "/run/twin-l4t/root"  # what can't be had at its real path lies below it, and all else is linked there
LIMIT_S = 600.0  # it takes ten seconds, and much longer beside other emulated machines
ALL = " ".join([*reversed(units.STARTED), units.DESKTOP])
STOP = f"systemctl stop {ALL} 2>/dev/null || true; [ ! -e /run/twin-l4t/zram ] || /etc/systemd/nvzramconfig.sh stop"


def apply(shell: Shell, personality: Personality) -> None:
    """Make the twin that board, freshly set up and booted; it stays so over a reboot. Any earlier board goes."""
    files = {**content.library(), **content.board_file(personality)}
    files |= content.staged(content.personality_files(personality))
    shell.put({path: _sent(file) for path, file in files.items()})
    skipped = {
        *(() if personality.nvpower else ("nvpower.service",)),
        *(() if personality.zram_bytes else ("nvzramconfig.service",)),
    }
    started = [name for name in units.STARTED if name not in skipped]
    # Compiled modules are told apart by their times, and what is put has none.
    shell.script(
        f"""rm -rf {content.LIBRARY}/twin_l4t/__pycache__
{STOP}
{content.PROGRAM} install
systemctl daemon-reload
udevadm control --reload 2>/dev/null || true
systemctl restart {units.BOARD}
systemctl start {" ".join(started)} {units.DESKTOP if personality.desktop else ""}
""",
        limit_s=LIMIT_S,
    )


def remove(shell: Shell) -> None:
    """Make the twin a plain machine again, with every file as it was before the first personality."""
    shell.script(
        f"""[ -e {content.PROGRAM} ] || exit 0
{STOP}
systemctl stop {units.BOARD}
{content.PROGRAM} remove
rm -rf {content.LIBRARY} {content.STATE} {content.PROGRAM}
systemctl daemon-reload
udevadm control --reload 2>/dev/null || true
""",
        limit_s=LIMIT_S,
    )


def report(shell: Shell) -> Mapping[str, str]:
    """{path: "real" or "spare"}: a spare one lies below SPARE."""
    return dict(json.loads(shell.script(f"{content.PROGRAM} report")))


def show_links(shell: Shell) -> list[str]:
    """Give the disks that are there now the personality's PCIe links; the covered files."""
    return shell.script(f"{content.PROGRAM} links").split("\n")[:-1]


def _sent(file: File | Link) -> twin_shell.File | twin_shell.Link:
    return twin_shell.Link(file.target) if isinstance(file, Link) else twin_shell.File(file.data, file.mode)

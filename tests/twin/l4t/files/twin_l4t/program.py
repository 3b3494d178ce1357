"""twin-l4t: what the twin's own units and the host call; no tool of a board has this name."""

from __future__ import annotations

import json

from . import board, firmware, install, links, place, surfaces, tree

USAGE = "Usage: twin-l4t install | boot | links | report | remove"


def main(words: list[str]) -> int:
    action = words[0] if len(words) == 1 else ""
    if action == "install":
        surfaces.hide()
        install.install()
    elif action == "boot":
        boot()
    elif action == "links":
        print("\n".join(links.show()))
    elif action == "report":
        print(place.read(surfaces.REPORT) or "{}", end="")
    elif action == "remove":
        surfaces.hide()
        install.remove_esp()
        install.uninstall()
    else:
        place.die(USAGE)
    return 0


def boot() -> None:
    """Power on: the firmware works, then the kernel shows what it found."""
    surfaces.hide()
    install.prepare_esp()
    flash, flavour = firmware.boot()
    where = surfaces.show(tree.kernel_tree(board.load(), flash, flavour))
    if place.is_board():
        links.show()
    print(json.dumps(sorted(name for name, kind in where.items() if kind == "spare")))

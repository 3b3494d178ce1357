"""nvbootctrl: the two bootloader slots."""

from __future__ import annotations

from . import board, efivars, firmware, place

USAGE = (
    "Usage: nvbootctrl dump-slots-info | get-number-slots | get-current-slot | set-active-boot-slot SLOT | verify"
    " | mark-boot-successful | is-slot-bootable SLOT"
)
NAMES = "AB"


def main(words: list[str]) -> int:
    if not place.is_root():
        print("Please run as root")
        return 1
    flash = board.load_flash()
    slots = flash["slots"]
    action, rest = (words[0], words[1:]) if words else ("", [])
    if action == "dump-slots-info":
        dump(flash)
    elif action == "get-number-slots":
        print(len(slots))
    elif action == "get-current-slot":
        print(flash["current"])
    elif action in ("verify", "mark-boot-successful"):
        mark(flash)
    elif action in ("set-active-boot-slot", "is-slot-bootable") and len(rest) == 1 and rest[0].isdigit():
        if int(rest[0]) >= len(slots):
            place.die(f"Invalid slot {rest[0]}")
        if action == "set-active-boot-slot":
            efivars.put_number(efivars.CHAIN_NEXT, int(rest[0]))
        elif slots[int(rest[0])]["status"] != "normal":
            return 1
    else:
        place.die(USAGE)
    return 0


def dump(flash: dict[str, object]) -> None:
    slots, current = flash["slots"], flash["current"]
    assert isinstance(slots, list)
    assert isinstance(current, int)
    wish = efivars.number(efivars.CHAIN_NEXT)
    print(f"Current version: {slots[current]['version']}")
    print(f"Capsule update status: {flash['capsule_status']}")
    print(f"Current bootloader slot: {NAMES[current]}")
    print(f"Active bootloader slot: {NAMES[current if wish is None else wish]}")
    print(f"num_slots: {len(slots)}")
    for number, slot in enumerate(slots):
        print(f"slot: {number},             status: {slot['status']}")


def mark(flash: dict[str, object]) -> None:
    """The boot was good: the status of a chain change that succeeded is no longer needed."""
    slots, current = flash["slots"], flash["current"]
    assert isinstance(slots, list)
    assert isinstance(current, int)
    slots[current]["status"] = "normal"
    if efivars.number(efivars.CHAIN_STATUS) == firmware.SUCCESS:
        efivars.drop(efivars.CHAIN_STATUS)
    board.save_flash(dict(flash))

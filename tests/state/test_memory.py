"""Compressed swap, swap, the memory that is used while nothing runs, and what runs all the same."""

from __future__ import annotations

from typing import Any

from rerig.machine import BUSY_SHARE
from rerig.verify_checks import Check, Look

MIB = 2**20
ZRAM_UNITS = ("nvzramconfig.service", "zramswap.service")
# The post's 8 GB board without a desktop: about 1 GB; boards with one were seen at 1.5 GB and above.
IDLE_BYTES = 1_000_000_000
MOST_IDLE_BYTES = 1_400_000_000


def test_compressed_swap(look: Look, check: Check, desired: dict[str, Any]) -> None:
    wanted = desired["headless_zram"]
    active = [swap for swap in look.swaps if swap["name"].startswith("/dev/zram")]
    enabled = [unit for unit in ZRAM_UNITS if unit in look.known_state.get("enabled", [])]
    size = sum(swap["size_bytes"] for swap in active) // MIB
    found = [f"{len(active)} devices, {size} MiB" if active else "off", *(f"{unit} is enabled" for unit in enabled)]
    on = bool(active or enabled)
    sentence = f"Compressed swap is on ({', '.join(found)}), and it is to be off."
    check.compare("\n".join(found), "as it is" if wanted == "keep" else "off", wanted == "keep" or not on, sentence)


def test_swap(look: Look, check: Check, desired: dict[str, Any]) -> None:
    shown = "\n".join(f"{swap['name']}, {swap['size_bytes'] // MIB} MiB" for swap in look.swaps) or "none"
    if desired["headless_zram"] != "swapfile":
        check.compare(shown, "as it is", True, "")
        return
    path, mib = desired["headless_swapfile_path"], int(desired["headless_swapfile_mib"])
    there = [swap for swap in look.swaps if swap["name"] == path and swap["size_bytes"] >= (mib - 1) * MIB]
    check.compare(shown, f"{path}, {mib} MiB", bool(there), f"There is no swap file of {mib} MiB at {path} in use.")


def test_idle_memory(look: Look, check: Check, desired: dict[str, Any]) -> None:
    total, available = look.summary["memory_bytes"], look.summary["memory_available_bytes"]
    if total is None or available is None:
        check.fail("How much memory is used can't be read.")
    used = total - available
    check.found = f"{used / 1e9:.2f} GB of {total / 1e9:.2f} GB used"
    if look.is_jetson and desired["headless_target"] == "multi-user.target":
        check.wanted = f"about {IDLE_BYTES / 1e9:.0f} GB"
        if used > MOST_IDLE_BYTES:
            check.warn(f"{used / 1e9:.2f} GB of memory are used; an idle board without a desktop uses about 1 GB.")


def test_background_load(look: Look, check: Check) -> None:
    load, cores = look.summary["load_1m"], look.summary["cores"]
    if load is None or not cores:
        check.fail("The load average can't be read.")
    check.found, check.wanted = f"load {load:.2f} on {cores} cores", f"at most {BUSY_SHARE * cores:.2f}"
    if load > BUSY_SHARE * cores:
        check.warn(f"Something runs: the load average is {load:.2f} on {cores} cores.")

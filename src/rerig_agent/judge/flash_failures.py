"""What the well-known lines in the log of a failed flash mean, and what helps. Pure.

Sources: public reports of owners who flashed Orin boards, each of which named the line and what helped.
"""

from __future__ import annotations

import re

_FAILURES = (
    (
        r"might be timeout in USB write",
        "Writing over USB timed out: use another port straight at the machine, best of an Intel host (some AMD"
        " controllers fail every time), put the board into recovery mode anew, and try again.",
    ),
    (
        r"failed to read rcm_state",
        "The board no longer answered in recovery mode: take its power away, set the jumper between FC REC and GND"
        " again, power it on, and try another cable.",
    ),
    (
        r"QSPI[^\n]{0,200}protect|protection bits?\b[^\n]{0,200}QSPI",
        "The QSPI flash is write-protected, which no flashing tool of L4T lifts.",
    ),
    (
        r"No space left on device",
        "The host's disk is full: flashing NVMe takes about three times the size of the root file system.",
    ),
    (
        r"mount\.nfs|\bNFS\b[^\n]{0,120}(?:fail|refus|denied|time)|clnt_create",
        "The board could not mount the host's NFS export: nfs-kernel-server and rpcbind must run and no firewall be in"
        " the way. Releases before 36.5 had a bug of their own here.",
    ),
    (
        r"/dev/sda1\b",
        "The drive sda was taken in place of the NVMe drive: unplug every other drive from the board, and try again.",
    ),
    (
        r"Device ping failed after RCM boot|Waiting for (?:target|device) to (?:boot|show)[^\0]{0,4000}?[Tt]ime ?out",
        "The small Linux that does the flashing did not answer over USB: IPv6 must be on, ufw off or open on usb0, and"
        " the cable in a port of the machine itself; forwarded USB (a virtual machine, WSL) fails here.",
    ),
)
_FAILED = tuple((re.compile(pattern, re.IGNORECASE), sentence) for pattern, sentence in _FAILURES)


def explain_failure(log: str, status: int | None) -> str:
    """One sentence on a flash that failed. ``log``: all that it printed; ``status``: None where it took too long."""
    for pattern, sentence in _FAILED:
        if pattern.search(log):
            return sentence
    if status is None:
        return "The flashing has not come to its end in the time it was given."
    lines = [line.strip() for line in re.split(r"[\r\n]+", log) if line.strip()]
    last = f"; its last line is: {lines[-1][:300]}" if lines else " and printed nothing"
    return f"The flashing ended with status {status}{last}."

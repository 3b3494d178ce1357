"""The systemd units of the board: L4T's own as stand-ins, a display manager, and what makes the board appear."""

from __future__ import annotations

from collections.abc import Iterator

from twin.l4t.values import Personality

VENDOR, SYSTEM = "/etc/systemd/system", "/usr/lib/systemd/system"
BOARD = "twin-l4t.service"
# In the order in which they start; what a board has running or has run after its boot.
STARTED = (
    "nvpower.service",
    "nvpmodel.service",
    "nvfancontrol.service",
    "nvzramconfig.service",
    "nv-l4t-bootloader-config.service",
)
DESKTOP = "gdm.service"
LINKS = "twin-l4t-links@.service"
RULE = "/etc/udev/rules.d/99-twin-l4t.rules"
RULES = 'ACTION=="add", SUBSYSTEM=="nvme", TAG+="systemd", ENV{SYSTEMD_WANTS}+="twin-l4t-links@%k.service"\n'


def _unit(
    what: str, command: str, *more: str, service: tuple[str, ...] = (), wanted_by: str = "multi-user.target"
) -> str:
    lines = ["[Unit]", f"Description={what}", *more, "", "[Service]", f"ExecStart={command}", *service, ""]
    return "\n".join([*lines, "[Install]", f"WantedBy={wanted_by}", ""])


ONESHOT = ("Type=oneshot",)
KEPT = ("Type=oneshot", "RemainAfterExit=yes")
UNITS = {
    # As early as it can be: after the root is writable and what systemd itself mounts below /sys.
    BOARD: _unit(
        "Board of the twin",
        "/usr/local/sbin/twin-l4t boot",
        "DefaultDependencies=no",
        "RequiresMountsFor=/var/lib/twin-l4t /boot",
        "After=systemd-remount-fs.service sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount",
        "Before=sysinit.target",
        "ConditionPathExists=/var/lib/twin-l4t/board.json",
        service=KEPT,
        wanted_by="sysinit.target",
    ),
    "nvpower.service": _unit("nvpower service", "/etc/systemd/nvpower.sh", "Before=nvpmodel.service", service=ONESHOT),
    # No RemainAfterExit, as on the board: isolate starts it again.
    "nvpmodel.service": _unit(
        "nvpmodel service", "/usr/sbin/nvpmodel -f /etc/nvpmodel.conf", "After=nvpower.service", service=ONESHOT
    ),
    "nvfancontrol.service": _unit("nvfancontrol service", "/usr/sbin/nvfancontrol"),
    "nvzramconfig.service": _unit("ZRAM configuration", "/etc/systemd/nvzramconfig.sh", service=KEPT),
    "nv-l4t-bootloader-config.service": _unit(
        "Configure bootloader service",
        "/opt/nvidia/l4t-bootloader-config/nv-l4t-bootloader-config.sh -v",
        service=ONESHOT,
    ),
    # One for each disk: a unit that runs already isn't started again for the next one.
    LINKS: _unit("PCIe link of %i", "/usr/local/sbin/twin-l4t links", service=ONESHOT),
}
GDM = "\n".join(
    [
        "[Unit]",
        "Description=GNOME Display Manager",
        "",
        "[Service]",
        "ExecStart=/bin/sleep infinity",
        "",
        "[Install]",
        "Alias=display-manager.service",
        "",
    ]
)


def entries(personality: Personality) -> Iterator[tuple[str, str, str]]:
    """(path, the file itself or what the path links to, the text where it is the file itself)."""
    left_out = {
        *(() if personality.nvpower else ("nvpower.service",)),
        *(() if personality.zram_bytes else ("nvzramconfig.service",)),
    }
    for name, text in UNITS.items():
        file = f"{VENDOR}/{name}"
        yield file, file, text
        target = text.rpartition("WantedBy=")[2].strip()
        if name not in left_out and name != LINKS:
            yield f"{VENDOR}/{target}.wants/{name}", file, ""
    yield f"{SYSTEM}/{DESKTOP}", f"{SYSTEM}/{DESKTOP}", GDM
    if personality.desktop:
        yield f"{VENDOR}/display-manager.service", f"{SYSTEM}/{DESKTOP}", ""
    target = "graphical" if personality.desktop else "multi-user"
    yield f"{VENDOR}/default.target", f"{SYSTEM}/{target}.target", ""
    yield RULE, RULE, RULES

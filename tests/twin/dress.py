"""What makes a Debian tree a twin: a name, users, keys, a network, and nothing that runs for nobody."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from twin.tools import run

USER = "jetson"
USER_ID = 1000
MAC = "52:54:00:00:00:01"  # of qemu's own range
# What costs boot time and that no test needs: each is linked to /dev/null.
MASKED = """
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer
    logrotate.timer man-db.timer mdcheck_start.timer mdcheck_continue.timer mdmonitor-oneshot.timer mdmonitor.service
    getty@tty1.service systemd-networkd-wait-online.service systemd-pstore.service systemd-random-seed.service
    nfs-blkmap.service lvm2-monitor.service lvm2-lvmpolld.socket dm-event.socket blk-availability.service
    smartmontools.service nvmefc-boot-connections.service nvmf-autoconnect.service
    dev-hugepages.mount dev-mqueue.mount proc-sys-fs-binfmt_misc.automount systemd-binfmt.service systemd-repart.service
    uuidd.socket mdadm-shutdown.service systemd-timesyncd.service systemd-resolved.service remote-cryptsetup.target
""".split()
# Present, and started only by who needs them.
NOT_AT_BOOT = ("nfs-server.service", "rpcbind.service", "rpcbind.socket", "nfs-client.target")
MASKED_GENERATORS = """
    systemd-bless-boot-generator systemd-cryptsetup-generator systemd-debug-generator systemd-gpt-auto-generator
    systemd-hibernate-resume-generator systemd-integritysetup-generator systemd-rc-local-generator
    systemd-run-generator systemd-system-update-generator systemd-sysv-generator systemd-veritysetup-generator
""".split()
NETWORK = f"""\
[Match]
MACAddress={MAC}
[Network]
Address=10.0.2.15/24
Gateway=10.0.2.2
DNS=10.0.2.3
LinkLocalAddressing=no
IPv6AcceptRA=no
"""
SSHD = """\
UseDNS no
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin prohibit-password
PerSourceMaxStartups none
MaxStartups 100
"""


def dress(root: Path, keys: Path) -> None:
    """Make the tree ``root`` a twin that the key ``keys/id`` opens and whose host key is ``keys/host.pub``.

    Works for any processor: nothing of the tree is run.
    """
    _write(root / "etc/hostname", "twin\n")
    _write(root / "etc/hosts", "127.0.0.1 localhost\n127.0.1.1 twin\n10.77.0.1 nas\n")
    _write(root / "etc/fstab", "")
    _write(root / "etc/machine-id", "0123456789abcdef0123456789abcdef\n")
    _write(root / "etc/apt/sources.list", "")
    _add_users(root, (keys / "id.pub").read_text("ascii"))
    _open_ssh(root, keys)
    _write(root / "etc/systemd/network/10-user.network", NETWORK)
    _trim_units(root)


def make_keys(folder: Path) -> None:
    """``folder/id`` opens the twin, ``folder/host`` is its host key."""
    folder.mkdir()
    for name in ("id", "host"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "twin", "-f", folder / name]
        run(words, what="Making the twin's keys")


def _add_users(root: Path, public_key: str) -> None:
    words = ["useradd", "--prefix", root, "--create-home", "--uid", str(USER_ID), "--shell", "/bin/bash"]
    run([*words, "--groups", "sudo", USER], what="Adding the twin's user")
    _write(root / f"etc/sudoers.d/{USER}", f"{USER} ALL=(ALL) NOPASSWD:ALL\n", 0o440)
    for home, owner in ((root / "root", 0), (root / "home" / USER, USER_ID)):
        _write(home / ".ssh/authorized_keys", public_key, 0o600)
        for path in (home, home / ".ssh", home / ".ssh/authorized_keys"):
            os.chown(path, owner, owner)
        (home / ".ssh").chmod(0o700)


def _open_ssh(root: Path, keys: Path) -> None:
    for old in (root / "etc/ssh").glob("ssh_host_*"):
        old.unlink()
    shutil.copy(keys / "host", root / "etc/ssh/ssh_host_ed25519_key")
    (root / "etc/ssh/ssh_host_ed25519_key").chmod(0o600)
    shutil.copy(keys / "host.pub", root / "etc/ssh/ssh_host_ed25519_key.pub")
    _write(root / "etc/ssh/sshd_config.d/twin.conf", SSHD)


def _trim_units(root: Path) -> None:
    units = root / "etc/systemd/system"
    for name in MASKED:
        _link(units / name, "/dev/null")
    for name in MASKED_GENERATORS:
        _link(root / "etc/systemd/system-generators" / name, "/dev/null")
    for folder in units.glob("*.wants"):
        for name in NOT_AT_BOOT:  # not by glob: a link whose target is absent here is no file to it
            (folder / name).unlink(missing_ok=True)
    _link(units / "multi-user.target.wants/systemd-networkd.service", "/lib/systemd/system/systemd-networkd.service")
    _link(units / "default.target", "/lib/systemd/system/multi-user.target")


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(mode)


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)

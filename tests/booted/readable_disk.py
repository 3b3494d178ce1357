"""A disk of the twin with one large file on it: made in no time, and every read of it is a read of the disk.

The file's blocks are allocated and counted as written, and hold nothing: the disk's own file here stays sparse. So
what the guest reads costs this machine no disk, and the only thing that slows it down is the limit that was set.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from twin.contents import sparse
from twin.disks import AttachedDisk, attach

if TYPE_CHECKING:
    from twin.machine import Machine

MIB = 2**20
ROOM_BYTES = 128 * MIB  # beside the file, for the file system's own tables
FOLDER = "/srv/models"
FILE = f"{FOLDER}/model.gguf0"  # mke2fs numbers its files
CONFIG = """\
[defaults]
    blocksize = 4096
    inode_size = 256
    inode_ratio = 1048576
[fs_types]
    ext4 = {{
        features = extent,huge_file,flex_bg,64bit
        make_hugefiles = true
        hugefiles_name = model.gguf
        hugefiles_digits = 1
        hugefiles_umask = 022
        num_hugefiles = 1
        hugefiles_size = {mib}M
        zero_hugefiles = false
    }}
"""


def write_readable_disk(path: Path, file_bytes: int) -> None:
    """Make ``path`` an ext4 file system with one file of so many whole MiB."""
    sparse.make(path, file_bytes + ROOM_BYTES)
    config = path.with_suffix(".conf")
    config.write_text(CONFIG.format(mib=file_bytes // MIB), "ascii")
    words = ["mke2fs", "-F", "-q", "-t", "ext4", str(path)]
    subprocess.run(words, env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin", "MKE2FS_CONFIG": str(config)}, check=True)


def mount_readable_disk(machine: Machine, path: Path, serial: str) -> AttachedDisk:
    """Put it in and mount it read-only at ``FOLDER``, also after a reboot."""
    disk = attach(machine, path, serial=serial, slot=1)
    machine.shell.script(f"""
        mkdir -p {FOLDER}
        echo '{disk.by_id} {FOLDER} ext4 ro 0 0' >> /etc/fstab
        systemctl daemon-reload
        mount {FOLDER}
    """)
    return disk

"""Mount options that may be shared: an allow-list with value patterns. What isn't listed is left out, not masked.

An option can hold an address, an export, a subvolume's or a user's name, or the path of a password file.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["matching", "non_negative", "not_an_address", "public_fs_type", "public_nfs", "public_options", "public_smb"]

_FLAG_WORDS = """
    ro rw sync async dirsync relatime noatime nodiratime strictatime lazytime nosuid nodev noexec nosymfollow

    discard nodiscard barrier nobarrier dax dax=always dax=inode dax=never noquota usrquota grpquota prjquota inode32
    inode64 attr2 noattr2 norecovery noload delalloc nodelalloc dioread_nolock dioread_lock data=ordered data=writeback
    data=journal journal_checksum journal_async_commit inlinecrypt errors=remount-ro errors=continue errors=panic ssd
    ssd_spread nossd space_cache nospace_cache datacow nodatacow datasum nodatasum autodefrag noautodefrag
    flushoncommit compress_cache no_heap inline_data noinline_data inline_dentry extent_cache background_gc=on
    background_gc=off background_gc=sync mode=adaptive mode=lfs checkpoint_merge

    index=on index=off nfs_export=on nfs_export=off xino=on xino=off xino=auto metacopy=on metacopy=off
    redirect_dir=on redirect_dir=off redirect_dir=follow redirect_dir=nofollow volatile userxattr

    hard soft softerr softreval nosoftreval intr nointr ac noac cto nocto lock nolock acl noacl fsc nofsc resvport
    noresvport rdirplus nordirplus sharecache nosharecache migration nomigration posix nosharesock persistenthandles
    resilienthandles multichannel nomultichannel seal sign forcemandatorylock mapposix serverino noserverino nobrl
    nostrictsync strictsync rdma nolease handlecache nohandlecache

    allow_other default_permissions posixacl nodevmap cache=none cache=loose cache=mmap cache=fscache cache=readahead
    cache=strict cache=singleclient cache=ro
"""  # all file systems; block ones; overlay; network ones; host shares, FUSE and SMB
_FLAGS = frozenset(_FLAG_WORDS.split())
_NUMBER = r"\d{1,12}"
_VALUES = {
    "vers": r"\d(\.\d{1,2}){0,2}|default",
    "nfsvers": r"\d(\.\d)?",
    "minorversion": r"\d",
    "version": r"9p2000(\.[uL])?",
    "proto": r"tcp6?|udp6?|rdma6?",
    "trans": r"virtio|tcp|unix|fd|xen|rdma",
    "sec": r"sys|none|krb5[ip]?|ntlmssp|ntlmsspi|ntlmv2|ntlmv2i|lkey|spkm",
    "local_lock": r"none|all|flock|posix",
    "lookupcache": r"all|none|pos|positive",
    "write": r"lazy|eager|wait",
    "xprtsec": r"none|tls|mtls",
    "cache": r"0x[0-9a-f]{1,8}|0b[01]{1,16}",
    "compress": r"(zlib|lzo|zstd|lz4|lz4hc|gzip)(:-?\d{1,2})?",
    "compress-force": r"(zlib|lzo|zstd)(:-?\d{1,2})?",
    "compression": r"(none|lz4|gzip|zstd)(:-?\d{1,2})?",
    "compress_algorithm": r"(lzo|lz4|zstd|lzo-rle)(:\d{1,2})?",
    "compress_mode": r"fs|user",
    "space_cache": r"v[12]",
    "discard": r"async|sync|unit|segment",
    "allocsize": _NUMBER + r"[kmg]?",
    "logbsize": _NUMBER + r"k?",
    "max_read": _NUMBER,
}
_NUMBER_WORDS = """
    rsize wsize bsize rasize dsize namlen nconnect max_connect timeo retrans acregmin acregmax acdirmin acdirmax actimeo
    closetimeo handletimeout echo_interval max_credits max_channels msize blksize stripe commit sunit swidth logbufs
    active_logs
"""
_NUMBERS = frozenset(_NUMBER_WORDS.split())
_FILE_SYSTEM_WORDS = """
    ext2 ext3 ext4 xfs btrfs bcachefs f2fs jfs reiserfs nilfs2 zfs ntfs ntfs3 vfat msdos exfat hfs hfsplus apfs udf
    iso9660 squashfs erofs cramfs romfs ubifs jffs2 minix ufs ocfs2 gfs2 zonefs overlay aufs ecryptfs tmpfs ramfs rootfs
    devtmpfs hugetlbfs nfs nfs4 cifs smb3 smbfs ceph afs coda lustre beegfs gpfs orangefs pvfs2 9p virtiofs fuse fuseblk
    proc sysfs cgroup cgroup2 debugfs tracefs securityfs configfs devpts mqueue bpf pstore efivarfs fusectl autofs
    vboxsf prl_fs vmhgfs
"""
_FILE_SYSTEMS = frozenset(_FILE_SYSTEM_WORDS.split())
_FUSE_WORDS = """
    sshfs rclone mergerfs gocryptfs encfs s3fs gcsfuse goofys glusterfs juicefs bindfs unionfs ntfs-3g ntfs exfat
    exfat-fuse lxcfs ceph-fuse mfs seaweedfs blobfuse2 mount-s3 fuse-overlayfs squashfuse zfs portal gvfsd-fuse lkl
"""
_FUSE_KINDS = frozenset(_FUSE_WORDS.split())


# As the schema of results has it (schemas/common-1.0.schema.json, address); what is checked here holds no colon.
_ADDRESS = re.compile(
    r"(^|[^0-9.])[0-9]{1,3}([.][0-9]{1,3}){3}($|[^0-9.]|[.]($|[^0-9]))"
    r"|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-|[0-9A-Fa-f]{2}(-[0-9A-Fa-f]{2}){5}"
)


def public_options(*lists: Any) -> list[str]:
    """The shareable ones of several option lists, in order, each once."""
    found: dict[str, None] = {}
    for options in lists:
        for option in options if isinstance(options, (list, tuple)) else []:
            if isinstance(option, str) and _is_public(option):
                found[option] = None
    return list(found)


def _is_public(option: str) -> bool:
    if option in _FLAGS:
        return True
    name, _, value = option.partition("=")
    pattern = _NUMBER if name in _NUMBERS else _VALUES.get(name)
    return pattern is not None and matching(value, pattern) is not None


def public_fs_type(fs_type: Any) -> str:
    """The kernel's name of a file system, or "unknown"; of FUSE ones only well-known daemons keep theirs."""
    if not isinstance(fs_type, str):
        return "unknown"
    family, dot, daemon = fs_type.partition(".")
    if dot and family in ("fuse", "fuseblk"):
        return fs_type if daemon in _FUSE_KINDS else family
    return fs_type if fs_type in _FILE_SYSTEMS else "unknown"


def public_nfs(parsed: dict[str, Any]) -> dict[str, Any]:
    """The parsed NFS options, each checked: version, rsize, wsize, proto, hard, nconnect, timeo, retrans."""
    return {
        "version": matching(parsed.get("version"), r"\d(\.\d)?"),
        "rsize": non_negative(parsed.get("rsize")),
        "wsize": non_negative(parsed.get("wsize")),
        "proto": matching(parsed.get("proto"), _VALUES["proto"]),
        "hard": parsed["hard"] if isinstance(parsed.get("hard"), bool) else None,
        "nconnect": non_negative(parsed.get("nconnect")),
        "timeo": non_negative(parsed.get("timeo")),
        "retrans": non_negative(parsed.get("retrans")),
    }


def public_smb(options: list[str]) -> dict[str, Any]:
    """From public options: version, cache, rsize, wsize, hard, channels (1 without multichannel)."""
    values = dict(option.partition("=")[::2] for option in options)
    channels = values.get("max_channels")
    return {
        "version": values.get("vers"),
        "cache": values.get("cache"),
        "rsize": int(values["rsize"]) if "rsize" in values else None,
        "wsize": int(values["wsize"]) if "wsize" in values else None,
        "hard": "hard" in values,
        "channels": int(channels) if channels is not None and "multichannel" in values else 1,
    }


def matching(value: Any, pattern: str) -> str | None:
    """`value` if it is a string that the whole pattern matches, else None."""
    return value if isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) else None


def not_an_address(value: str | None) -> str | None:
    """`value`, or None where an IPv4 or hardware address or a UUID stands in it."""
    return None if value is None or _ADDRESS.search(value) else value


def non_negative(value: Any) -> int | None:
    """`value` if it is a whole number from 0 to what JSON readers hold exactly (2^53 - 1), else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None

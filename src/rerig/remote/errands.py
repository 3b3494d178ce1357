"""Small programs for the Python of another machine; even Python 2.7 must be able to read them, to be told its age."""

from __future__ import annotations

import json
from collections.abc import Mapping

OLDEST = "(3, 8)"

_START = """\
import sys
sys.stdout.write("\\n" + {mark} + "\\n")
if sys.version_info < {oldest}:
    sys.stdout.write('{{"python": "%d.%d"}}\\n' % sys.version_info[:2])
    sys.exit(0)
import base64, errno, hashlib, json, os, pwd, stat
WORDS = json.loads({words})
"""

LOOK = """\
NEEDED_BYTES = 32 * 2**20
PROBE_BYTES = 65536

def said(path):
    return os.fsencode(path).decode("utf-8", "surrogateescape")

def candidates():
    try:
        home = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        home = ""
    if os.path.isdir(home):
        yield os.path.join(home, ".local", "state", "rerig")
    for shared in ("/var/tmp", "/tmp"):
        yield "%s/rerig-%d" % (shared, os.geteuid())

def is_ours(path):
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()

def make_private(path):
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    if os.path.islink(path):
        raise OSError(errno.ELOOP, "it is a symbolic link")
    if not is_ours(path):
        raise OSError(errno.EPERM, "it is not this user's directory")
    if stat.S_IMODE(os.lstat(path).st_mode) != 0o700:
        os.chmod(path, 0o700)

def use(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    make_private(path)
    probe = os.path.join(path, ".probe-%d" % os.getpid())
    file = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
    try:
        try:
            if os.write(file, b"x" * PROBE_BYTES) != PROBE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file)
        finally:
            os.close(file)
    finally:
        os.unlink(probe)
    disk = os.statvfs(path)
    if disk.f_bavail * disk.f_frsize < NEEDED_BYTES:
        raise OSError(errno.ENOSPC, "only %d MiB are free there" % (disk.f_bavail * disk.f_frsize // 2**20))
    make_private(os.path.join(path, "runs"))

os.umask(0o077)
state_dir, refused, runs_dirs = None, [], []
for path in WORDS.get("places") or candidates():
    if state_dir is None:
        try:
            use(path)
            state_dir = said(path)
        except OSError as error:
            refused.append([said(path), error.strerror])
    if is_ours(path) and is_ours(os.path.join(path, "runs")):
        runs_dirs.append(said(os.path.join(path, "runs")))
version = "%d.%d.%d" % sys.version_info[:3]
print(json.dumps({"python": version, "state_dir": state_dir, "refused": refused, "runs_dirs": runs_dirs}))
"""

FIND_AGENT = """\
found = False
try:
    path = WORDS["path"].encode("utf-8", "surrogateescape")
    kind = os.lstat(path)
    if stat.S_ISREG(kind.st_mode) and kind.st_uid == os.geteuid() and not kind.st_mode & 0o022:
        with open(path, "rb") as file:
            found = hashlib.sha256(file.read()).hexdigest() == WORDS["sha256"]
except OSError:
    pass
print(json.dumps({"found": found}))
"""

PUT_AGENT = """\
failed = None
path = WORDS["path"].encode("utf-8", "surrogateescape")
aside = path + b".%d" % os.getpid()
try:
    data = base64.b64decode(WORDS["archive"])
    if hashlib.sha256(data).hexdigest() != WORDS["sha256"]:
        raise OSError(errno.EIO, "it was changed on the way")
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    try:
        with open(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(aside, path)
    except BaseException:
        try:
            os.unlink(aside)
        except OSError:
            pass
        raise
except OSError as error:
    failed = error.strerror
print(json.dumps({"failed": failed}))
"""


def errand(body: str, words: Mapping[str, object], mark: str) -> bytes:
    """The program that prints a newline, ``mark``, a newline and a JSON object: ``{"python": "2.7"}`` on one too old.

    ``body`` finds ``words`` as ``WORDS``; ASCII throughout.
    """
    # JSON in a literal of Python: what json.dumps escapes once more can hold no quote and no newline that ends it.
    start = _START.format(mark=json.dumps(mark), oldest=OLDEST, words=json.dumps(json.dumps(words)))
    return (start + body).encode("ascii")

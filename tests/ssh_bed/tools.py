"""What a machine of the bed needs beyond this one's: sshd, sudo, fio, a clock that is wrong, a German locale."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from debian_packages import CACHE, missing, unpack

PACKAGES = ["openssh-server", "sudo", "fio", "libfaketime", "locales"]
NEEDED = ("unshare", "mount", "ssh-keygen", "chpasswd")
LOCALE = "de_DE.UTF-8"


def prepare_tools() -> Path:
    """A folder with the packages' ``usr`` and ``etc``, made once for all. Skips the test where there can be none."""
    if os.geteuid() != 0:
        pytest.skip("machines in namespaces of their own need root")
    if absent := [tool for tool in NEEDED if not shutil.which(tool)]:
        pytest.skip(f"machines in namespaces need {' and '.join(absent)}, which this one hasn't")
    tried = subprocess.run(["unshare", "--mount", "--pid", "--uts", "--fork", "true"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"namespaces can't be made here: {tried.stderr.strip()}")
    with missing("ssh-bed") as aside:
        if aside is not None:
            _complete(unpack(PACKAGES, aside))
    return CACHE / "ssh-bed"


def _complete(ready: Path) -> None:
    """Today's Debian keeps all programs below /usr; a package of yesterday may name /lib and /bin still."""
    for folder in ("lib", "bin", "sbin"):
        if (ready / folder).is_dir():
            shutil.copytree(ready / folder, ready / "usr" / folder, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(ready / folder)
    (ready / "etc").mkdir(exist_ok=True)
    locales = ready / "usr" / "lib" / "locale"
    locales.mkdir(parents=True, exist_ok=True)
    sources = next(
        (path for path in (ready / "usr/share/i18n", Path("/usr/share/i18n")) if (path / "locales/de_DE").exists()),
        None,
    )
    if sources is not None and shutil.which("localedef"):
        subprocess.run(
            ["localedef", "--no-archive", "-f", "UTF-8", "-i", "de_DE", str(locales / LOCALE)],
            env={**os.environ, "I18NPATH": str(sources)},
            check=True,
            capture_output=True,
        )

"""Debian's packages of any architecture, fetched by an apt of our own that knows nothing of this machine's."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from twin.architecture import Architecture
from twin.debian_tree import SUITE
from twin.errors import TwinError
from twin.tools import need, run

CONFIGURATION = """\
APT::Architecture "{architecture}";
APT::Architectures {{ "{architecture}"; }};
APT::Sandbox::User "";
APT::Get::List-Cleanup "false";
Acquire::Languages "none";
Dir::State "{folder}/state";
Dir::State::Lists "{folder}/lists";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{sources}";
Dir::Etc::sourceparts "/dev/null";
"""


class Apt:
    """apt for one architecture, with lists of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._words = ["-c", str(folder / "apt.conf")]

    def first_dependency(self, package: str) -> str:
        """The package that a package without content stands for, as the newest kernel's."""
        said = run(["apt-cache", *self._words, "depends", package], what=f"Looking up {package}")
        for line in said.splitlines():
            kind, _, name = line.strip().partition(": ")
            if kind == "Depends":
                return name
        raise TwinError(f"Debian's {package} names no package that it stands for.")

    def known(self, packages: Sequence[str]) -> list[str]:
        """Those of the packages that there are for this architecture."""
        said = run(["apt-cache", *self._words, "pkgnames"], what="Listing Debian's packages")
        names = set(said.split())
        return [package for package in packages if package in names]

    def download(self, packages: Sequence[str]) -> list[Path]:
        """The packages' files, and nothing that they depend on."""
        before = set(self.folder.glob("*.deb"))
        run(["apt-get", *self._words, "-q", "download", *packages], what="Fetching packages", cwd=self.folder)
        return sorted(set(self.folder.glob("*.deb")) - before)


@contextmanager
def apt_for(architecture: Architecture, tree: Path) -> Iterator[Apt]:
    """With fresh package lists, from the sources that the tree was made from."""
    need("apt-get", "dpkg-deb")
    with tempfile.TemporaryDirectory(prefix="rerig-twin-apt-") as name:
        folder = Path(name)
        for below in ("lists/partial", "cache/archives/partial", "state"):
            (folder / below).mkdir(parents=True)
        (folder / "status").touch()
        sources = next(iter(sorted((tree / "etc/apt/sources.list.d").glob("*.list"))), tree / "etc/apt/sources.list")
        (folder / "apt.conf").write_text(
            CONFIGURATION.format(architecture=architecture.name, folder=folder, sources=sources), "utf-8"
        )
        apt = Apt(folder)
        run(["apt-get", *apt._words, "-q", "update"], what=f"Fetching Debian's package lists of {SUITE}")
        yield apt

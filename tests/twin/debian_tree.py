"""The configured Debian tree of amd64, made by mmdebstrap; every other tree comes from it."""

from __future__ import annotations

from pathlib import Path

from twin.cache import built, recipe_hash
from twin.tools import need, need_root, run

SUITE = "bookworm"
GUEST_PACKAGES = Path(__file__).with_name("guest-packages.txt")
# What no test reads; a third of the tree.
LEFT_OUT = ("doc", "man", "locale", "info", "bash-completion")


def guest_packages() -> list[str]:
    """Debian's packages in the twin besides the essential ones."""
    lines = GUEST_PACKAGES.read_text("utf-8").splitlines()
    return [word for line in lines for word in line.partition("#")[0].split()]


def recipe() -> str:
    """The hash of what the tree is made from."""
    return recipe_hash([SUITE, " ".join(guest_packages()), Path(__file__)])


def amd64_tree() -> Path:
    """The folder of the tree in the cache; built where it isn't there. Raises TwinError."""
    return built("tree-amd64", recipe(), _build) / "root"


def _build(folder: Path) -> None:
    need_root()
    need("mmdebstrap")
    paths = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in LEFT_OUT]
    run(
        [
            "mmdebstrap",
            "--quiet",
            "--mode=root",
            "--variant=minbase",
            f"--include={','.join(guest_packages())}",
            '--aptopt=APT::Install-Recommends "false"',
            "--dpkgopt=force-unsafe-io",
            *paths,
            SUITE,
            folder / "root",
        ],
        what="Making the twin's Debian tree",
    )

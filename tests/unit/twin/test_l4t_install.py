"""Personalities come, are changed and go; what was on the machine before is there again afterwards."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from twin.l4t import content, units
from twin.l4t.bench import NVPMODEL, STAGE_CAPSULE, Bench
from twin.l4t.modules import RECORDED
from twin.l4t.personalities import PERSONALITIES, PLAIN, STRANGER, SUPER
from twin.l4t.values import Personality

Make = Callable[[Personality], Bench]
STATUS = """Package: base-files
Status: install ok installed
Version: 12.4
Architecture: amd64
Maintainer: Santiago Vila
Description: Debian base system miscellaneous files
 .
 more

Package: zlib1g
Status: install ok installed
Version: 1:1.2.13
Architecture: amd64
Maintainer: Mark Brown
Description: compression library

"""
DEFAULT = "etc/systemd/system/default.target"


def listing(root: Path) -> dict[str, str]:
    """Every file, link and folder with what is in it, but for what the layer keeps for itself and the kernel's part."""
    own = ("usr", "var/lib/twin-l4t", "run", "sys", "proc")
    found = {}
    for file in sorted(root.rglob("*")):
        name = str(file.relative_to(root))
        if any(f"{name}/".startswith(f"{folder}/") for folder in own):
            continue
        if file.is_symlink():
            found[name] = f"-> {file.readlink()}"
        else:
            found[name] = "folder" if file.is_dir() else file.read_bytes().hex()
    return found


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Some files of a Debian, two of them at places where a board has its own."""
    for name, text in {
        "etc/hostname": "twin\n",
        "etc/nv_tegra_release": "an older one\n",
        "var/lib/dpkg/status": STATUS,
        "var/lib/dpkg/info/zlib1g.list": "/.\n",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / DEFAULT).parent.mkdir(parents=True)
    (tmp_path / DEFAULT).symlink_to("/lib/systemd/system/multi-user.target")
    return tmp_path


@pytest.mark.parametrize("name", ["orin-nano-super", "unknown-board"])
def test_a_removed_personality_leaves_the_machine_as_it_was(name: str, machine: Path) -> None:
    before = listing(machine)
    bench = Bench(machine, PERSONALITIES[name])
    assert listing(machine) != before
    assert bench.path(DEFAULT).readlink().name == "graphical.target"
    bench.done(NVPMODEL, "-m", "0")
    bench.done(content.PROGRAM, "remove")
    assert listing(machine) == before


def test_what_a_user_took_away_or_changed_is_no_obstacle(machine: Path) -> None:
    before = listing(machine)
    bench = Bench(machine, SUPER)
    bench.path("/etc/systemd/system/display-manager.service").unlink()
    bench.path(DEFAULT).unlink()
    bench.path(DEFAULT).symlink_to("/usr/lib/systemd/system/multi-user.target")
    bench.path("/etc/nv_boot_control.conf").write_text("changed\n")
    bench.done(STAGE_CAPSULE, "-q", "/opt/ota_package/t23x/TEGRA_BL_3767.Cap")
    bench.done(content.PROGRAM, "remove")
    assert listing(machine) == before


def test_a_changed_personality_is_as_if_it_had_been_the_first(
    machine: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    fresh = tmp_path_factory.mktemp("fresh")
    shutil.copytree(machine, fresh, symlinks=True, dirs_exist_ok=True)
    bench = Bench(machine, SUPER)
    bench.done(STAGE_CAPSULE, "-q", "/opt/ota_package/t23x/TEGRA_BL_3767_super.Cap")
    bench.change(STRANGER)
    bench.change(PLAIN)
    Bench(fresh, PLAIN)
    assert listing(machine) == listing(fresh)
    assert (machine / "var/lib/twin-l4t/flash.json").read_text() == (fresh / "var/lib/twin-l4t/flash.json").read_text()
    bench.done(content.PROGRAM, "remove")
    assert (machine / "etc/nv_tegra_release").read_text() == "an older one\n"


def test_another_boot_changes_nothing(machine: Path) -> None:
    bench = Bench(machine, SUPER)
    before = listing(machine)
    bench.boot()
    assert listing(machine) == before


# Debian's package database.


def dpkg_query(root: Path, *words: str) -> str:
    words = ("dpkg-query", f"--admindir={root}/var/lib/dpkg", *words)
    return subprocess.run(words, capture_output=True, check=True, encoding="utf-8").stdout


needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="this machine has no dpkg-query")


@needs_dpkg
@pytest.mark.parametrize("name", ["orin-nano-super", "orin-nano-half", "thor", "orin-nano-r39"])
def test_dpkg_knows_the_packages_of_l4t_in_recorded_versions(name: str, machine: Path) -> None:
    bench = Bench(machine, PERSONALITIES[name])
    version = dpkg_query(machine, "-W", "-f", "${Version}", "nvidia-l4t-core")
    assert version in (RECORDED / "package_versions.txt").read_text("utf-8").splitlines()
    assert dpkg_query(machine, "-W", "-f", "${Version}", "zlib1g") == "1:1.2.13"
    kernel = dpkg_query(machine, "-W", "-f", "${Version} ${db:Status-Status}", "nvidia-l4t-kernel")
    assert kernel == f"{bench.personality.release.kernel}-{version} installed"


@needs_dpkg
def test_an_older_personality_s_packages_go(machine: Path) -> None:
    bench = Bench(machine, SUPER)
    bench.change(PERSONALITIES["orin-nano-half"])
    assert dpkg_query(machine, "-W", "-f", "${Package} ${Version}\n", "nvidia-l4t-core") == (
        "nvidia-l4t-core 36.5.2-20260716114719\n"
    )
    assert (machine / "var/lib/dpkg/status").read_text().count("Package: nvidia-l4t-core\n") == 1


# Units.


@pytest.mark.parametrize("name", ["orin-nano-super", "orin-nano-conf-behind"])
def test_units_are_wanted_by_their_targets(name: str, machine: Path) -> None:
    bench = Bench(machine, PERSONALITIES[name])
    wanted = {file.name for file in bench.path("/etc/systemd/system/multi-user.target.wants").iterdir()}
    expected = {"nvpower.service", "nvpmodel.service", "nvfancontrol.service", "nvzramconfig.service"}
    expected |= {"nv-l4t-bootloader-config.service"}
    assert wanted == (expected if bench.personality.nvpower else expected - {"nvpower.service"})
    early = bench.path(f"/etc/systemd/system/sysinit.target.wants/{units.BOARD}")
    assert early.readlink() == Path(f"/etc/systemd/system/{units.BOARD}")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="this machine has no systemd-analyze")
def test_systemd_has_nothing_to_say_about_the_units(machine: Path) -> None:
    bench = Bench(machine, SUPER)
    files = [bench.path(f"/etc/systemd/system/{name}") for name in units.UNITS]
    files += [bench.path(f"/usr/lib/systemd/system/{units.DESKTOP}")]
    # The programs are below the bench's root, where systemd does not look for them.
    for file in files:
        file.write_text(file.read_text().replace("ExecStart=/", "ExecStart=-/bin/true /"))
    words = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *map(str, files)]
    finished = subprocess.run(words, capture_output=True, encoding="utf-8")
    assert (finished.returncode, finished.stderr) == (0, "")

"""The role bench_tools on this machine with apt-get, dpkg-query and fio played by stubs: nothing gets installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APT_GET = """
echo "$*" >> "{state}/apt-get.log"
case "$*" in
*" update") : > "{state}/lists" ;;
*" install "*)
  test -e "{state}/lists" || {{ echo 'E: Unable to locate package' >&2; exit 100; }}
  test ! -e "{state}/locked" || {{ echo 'E: Could not get lock' >&2; exit 100; }}
  for package; do :; done
  test -e "{state}/liar" || : > "{state}/installed-$package"
  says='echo fio-3.99'
  test ! -e "{state}/broken" || says='echo "error while loading shared libraries" >&2; exit 127'
  printf '#!/bin/sh\\n%s\\n' "$says" > "{bin}/fio"; chmod +x "{bin}/fio" ;;
esac
"""
DPKG_QUERY = """
for package; do :; done
test -e "{state}/installed-$package" || {{ echo "dpkg-query: no packages found matching $package" >&2; exit 1; }}
echo "$package" >> "{state}/dpkg-query.log"
echo "$package installed 3.99-1"
"""
SUDO = """
echo "$*" >> "{state}/sudo.log"
while test "$1" != /bin/sh; do shift; done
exec "$@"
"""


class Machine:
    """This machine as the role sees it: stubs first on PATH, their state in a folder."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.state = base / "state"
        self.bin = base / "bin"
        for folder in (self.state, self.bin):
            folder.mkdir()
        for name, script in (("apt-get", APT_GET), ("dpkg-query", DPKG_QUERY), ("sudo", SUDO)):
            program = self.bin / name
            program.write_text(f"#!/bin/sh\n{script.format(state=self.state, bin=self.bin)}", "utf-8")
            program.chmod(0o755)

    def play(self, *flags: str, prefix: Sequence[str] = ()) -> str:
        """Run playbooks/tools.yml; what Ansible printed, its exit status on the last line."""
        command = [sys.executable, "-m", "ansible", "playbook", "-i", str(ROOT / "inventory" / "localhost"), *flags]
        done = subprocess.run(
            [*prefix, *command, str(ROOT / "playbooks" / "tools.yml")],
            env={
                "PATH": f"{self.bin}:/usr/bin:/bin",
                "LC_ALL": "C.UTF-8",
                "HOME": str(self.base),
                "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
                "ANSIBLE_HOME": str(self.base / "ansible"),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return f"{done.stdout}\nstatus={done.returncode}"

    def calls(self, program: str) -> list[str]:
        """What a stub was called with, a line each."""
        log = self.state / f"{program}.log"
        return log.read_text("utf-8").splitlines() if log.exists() else []


def recap(output: str) -> dict[str, int]:
    """Ansible's closing counts, and the exit status."""
    return {name: int(number) for name, number in re.findall(r"(changed|failed|status)=(\d+)", output)}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_check_apply_repeat_and_read_back(machine: Machine) -> None:
    check = machine.play("--check")
    assert recap(check) == {"changed": 1, "failed": 0, "status": 0}, check
    assert "Would install: fio" in check
    assert machine.calls("apt-get") == []

    apply = machine.play()
    assert recap(apply) == {"changed": 1, "failed": 0, "status": 0}, apply
    assert machine.calls("apt-get") == [
        "--quiet update",
        "--quiet --yes --no-remove --no-install-recommends --option DPkg::Lock::Timeout=120 install -- fio",
    ]

    for flags in ([], ["--check"]):
        repeat = machine.play(*flags)
        assert recap(repeat) == {"changed": 0, "failed": 0, "status": 0}, repeat
    assert len(machine.calls("apt-get")) == 2
    assert len(machine.calls("dpkg-query")) == 3  # the read-back, and one look a repeat

    assert (machine.state / "installed-fio").exists()
    said = subprocess.run([machine.bin / "fio"], capture_output=True, text=True, check=True).stdout
    assert said == "fio-3.99\n"


def test_only_the_two_apt_commands_use_sudo(machine: Machine) -> None:
    prefix = [] if os.geteuid() else ["unshare", "--user"]  # without a map root is nobody there, and keeps its files
    if prefix and subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("no user namespaces here")
    output = machine.play(prefix=prefix)
    assert recap(output) == {"changed": 1, "failed": 0, "status": 0}, output
    assert len(machine.calls("apt-get")) == 2
    assert len(machine.calls("sudo")) == 2


@pytest.mark.root
def test_root_needs_no_sudo(machine: Machine) -> None:
    (machine.bin / "sudo").unlink()
    assert recap(machine.play())["status"] == 0


def test_an_installation_that_did_not_happen_is_noticed(machine: Machine) -> None:
    (machine.state / "liar").touch()
    output = machine.play()
    assert recap(output)["status"] != 0
    assert re.findall(r"TASK \[(.*?)\]", output)[-1] == "bench_tools : verify | Ask dpkg which versions are there"


def test_a_tool_that_was_installed_and_does_not_run_is_noticed(machine: Machine) -> None:
    (machine.state / "broken").touch()
    output = machine.play()
    assert recap(output)["status"] != 0
    assert "error while loading shared libraries" in output


def test_apts_own_refusal_is_shown(machine: Machine) -> None:
    (machine.state / "locked").touch()
    output = machine.play()
    assert recap(output)["status"] != 0
    assert "E: Could not get lock" in output


@pytest.mark.parametrize("package", ["--purge", "fio;reboot"])
def test_what_is_no_package_name_is_refused_before_anything_runs(machine: Machine, package: str) -> None:
    output = machine.play("--extra-vars", f'{{"bench_tools_packages": ["{package}"]}}')
    assert recap(output)["status"] != 0
    assert "no Debian package name" in output
    assert machine.calls("apt-get") == []


def test_a_system_where_dpkg_does_not_answer_is_refused_in_a_sentence(machine: Machine) -> None:
    (machine.bin / "dpkg-query").write_text("#!/bin/sh\necho 'no database' >&2; exit 2\n", "utf-8")
    output = machine.play()
    assert recap(output)["status"] != 0
    assert "on Debian and its kin, and dpkg can't be asked here: no database" in " ".join(output.split())
    assert machine.calls("apt-get") == []


def test_no_packages_are_no_work(machine: Machine) -> None:
    assert recap(machine.play("--extra-vars", '{"bench_tools_packages": []}')) == {
        "changed": 0,
        "failed": 0,
        "status": 0,
    }
    assert machine.calls("apt-get") == []


def test_the_variables_have_types(machine: Machine) -> None:
    output = machine.play("--extra-vars", '{"bench_tools_packages": {"fio": 1}}')
    assert recap(output)["status"] != 0
    assert machine.calls("apt-get") == []


def test_the_example_inventory_is_readable() -> None:
    command = [sys.executable, "-m", "ansible", "inventory", "-i", str(ROOT / "inventory" / "example"), "--list"]
    done = subprocess.run(command, env={**os.environ, "LC_ALL": "C.UTF-8"}, capture_output=True, text=True, check=True)
    assert "bench_tools_packages" in done.stdout


REAL = """
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
for folder in proc dev sys; do mount --rbind "/$folder" "$1/root/$folder"; done
exec chroot "$1/root" sh -c 'cd "$1" && "$2" -m ansible playbook playbooks/tools.yml && fio --version' sh "$2" "$3"
"""


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.skipif(bool(shutil.which("fio")), reason="fio is installed here already")
@pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="installs with apt")
def test_the_real_apt_installs_the_real_fio_in_a_throw_away_root(tmp_path: Path) -> None:
    layer = tmp_path / "layer"
    layer.mkdir()
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", REAL, "sh"]
    done = subprocess.run(
        [*command, str(layer), str(ROOT), sys.executable],
        env={**os.environ, "LC_ALL": "C.UTF-8", "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if "mount: " in done.stdout and "overlay" in done.stdout:
        pytest.skip(f"no overlay over this root: {done.stdout.strip()}")
    assert done.returncode == 0, done.stdout
    assert recap(done.stdout)["changed"] == 1
    assert done.stdout.splitlines()[-1].startswith("fio-")
    assert shutil.which("fio") is None

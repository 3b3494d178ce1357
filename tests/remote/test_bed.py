"""The bed is what it claims to be, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ssh_bed import SshBed, User
from ssh_bed.tools import LOCALE
from waiting import wait_for

SECRET = "s3" + "cret"

pytestmark = [pytest.mark.root, pytest.mark.slow]  # every other test of this folder would fail, too


def test_openssh_itself_gets_in(bed: SshBed) -> None:
    host = bed.start("orin")
    done = bed.openssh(host, "hostname; id -un; pwd")
    assert done.stdout.split() == ["orin", "jetson", "/home/jetson"], done.stderr


def test_openssh_refuses_a_machine_whose_key_is_unknown_or_swapped(bed: SshBed) -> None:
    stranger = bed.start("stranger", known=False)
    assert bed.openssh(stranger, "true").returncode == 255
    host = bed.start("orin")
    host.swap_host_key()
    assert "REMOTE HOST IDENTIFICATION HAS CHANGED" in bed.openssh(host, "true").stderr


def test_machines_run_side_by_side_and_see_nothing_of_each_other(bed: SshBed) -> None:
    one, two = bed.start("one"), bed.start("two", users=[User("ubuntu")])
    one.path("/home/jetson/mine").write_text("x")
    assert bed.openssh(one, "ls").stdout == "mine\n"
    assert bed.openssh(two, "id -un; ls /home").stdout == "ubuntu\nubuntu\n"
    assert one.port != two.port
    assert one.run(["cat", "/proc/sys/kernel/random/boot_id"]) != two.run(["cat", "/proc/sys/kernel/random/boot_id"])
    assert len(one.processes("sshd")) == 1


def test_nothing_but_the_machines_own_folders_can_be_written(bed: SshBed) -> None:
    host = bed.start()
    for place in ("/", "/opt", "/usr/local/bin", "/var/lib", "/mnt"):
        with pytest.raises(AssertionError, match="Read-only"):
            host.run(["touch", f"{place}/leaked"])
    for place in ("/home", "/srv", "/tmp", "/var/tmp", "/root", "/run", "/etc"):  # noqa: S108 - inside
        host.run(["touch", f"{place}/kept"])
        assert not (Path(place) / "kept").exists()


def test_sudo_asks_whom_it_should(bed: SshBed) -> None:
    users = [User("free", sudo="nopasswd"), User("asked", sudo="password", password=SECRET), User("plain")]
    host = bed.start(users=users)

    def sudo(user: str, *words: str, stdin: bytes = b"") -> bytes:
        return host.run(["su", "-s", "/bin/sh", user, "-c", " ".join(["sudo", *words, "id -u"])], stdin)

    assert sudo("free", "-n") == b"0\n"
    with pytest.raises(AssertionError, match="password is required"):
        sudo("asked", "-n")
    assert sudo("asked", "-S", stdin=SECRET.encode() + b"\n") == b"0\n"
    with pytest.raises(AssertionError, match="incorrect password"):
        sudo("asked", "-S", stdin=b"wrong\n")
    with pytest.raises(AssertionError, match="password is required"):
        sudo("plain", "-n")


def test_a_machine_is_as_odd_as_it_is_asked_to_be(bed: SshBed) -> None:
    host = bed.start(
        users=[User("jetson", home="/home/a b/jetson")],
        noexec_tmp=True,
        readonly_home=True,
        programs={"nvpmodel": "#!/bin/sh\necho MAXN\n"},
        without=["/usr/bin/fio"],
    )
    said = bed.openssh(host, "pwd; touch x; cp /bin/true /tmp/t; /tmp/t; nvpmodel; command -v fio || echo none")
    assert said.stdout == "/home/a b/jetson\nMAXN\nnone\n"
    assert "Read-only file system" in said.stderr
    assert "Permission denied" in said.stderr


def test_real_fio_is_there(bed: SshBed) -> None:
    assert bed.openssh(bed.start(), "fio --version").stdout.startswith("fio-3")


def test_the_clock_can_be_wrong(bed: SshBed) -> None:
    right, wrong = bed.start("right"), bed.start("wrong", faketime="+1h")
    there = int(bed.openssh(wrong, "date +%s").stdout) - int(bed.openssh(right, "date +%s").stdout)
    assert 3000 < there < 4200


def test_the_locale_can_be_german(bed: SshBed, ssh_tools: Path) -> None:
    if not (ssh_tools / "usr/lib/locale" / LOCALE).exists():
        pytest.skip("localedef could make no German locale")
    assert "Datei oder Verzeichnis nicht gefunden" in bed.openssh(bed.start(locale=LOCALE), "ls /none").stderr


def test_a_disk_can_be_small(bed: SshBed) -> None:
    host = bed.start(disks={"/home/jetson": 8 * 2**20})
    done = bed.openssh(host, "touch mine && head -c 16M /dev/zero > more")
    assert "No space left on device" in done.stderr
    assert bed.openssh(host, "ls").stdout == "lost+found\nmine\nmore\n"


def test_sshd_dies_and_comes_back_on_its_port(bed: SshBed) -> None:
    host = bed.start()
    host.kill_sshd()
    with socket.socket() as client:
        assert client.connect_ex(("127.0.0.1", host.port)) != 0
    host.restart_sshd()
    assert bed.openssh(host, "true").returncode == 0


def test_sessions_die_and_what_they_started_lives(bed: SshBed) -> None:
    host = bed.start()
    argv = ["ssh", "-F", str(bed.config), "-o", "BatchMode=yes", "-i", str(bed.key)]
    argv += [
        "-o",
        f'UserKnownHostsFile="{bed.known_hosts}"',
        host.name,
        "setsid sleep 1000 </dev/null >&0 2>&0 & sleep 999",
    ]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
        wait_for(lambda: host.processes("sleep 1000"))
        host.kill_sessions()
        assert client.wait(60) == 255
    assert host.processes("sleep 1000")
    assert bed.openssh(host, "true").returncode == 0


def test_a_reboot_ends_all_and_changes_the_boot_id(bed: SshBed) -> None:
    host = bed.start()
    (host.path("/tmp") / "there").touch()  # noqa: S108 - inside
    host.path("/home/jetson/there").touch()
    before = host.run(["cat", "/proc/sys/kernel/random/boot_id"])
    bed.openssh(host, "setsid sleep 1000 </dev/null >/dev/null 2>&1 &")
    wait_for(lambda: host.processes("sleep 1000"))
    host.reboot(empty_tmp=True)
    assert host.run(["cat", "/proc/sys/kernel/random/boot_id"]) != before
    assert not host.processes("sleep 1000")
    assert bed.openssh(host, "ls /tmp; ls").stdout == "there\n"


def test_a_gate_holds_the_call_it_should(bed: SshBed) -> None:
    host = bed.start(gated=["dd"])
    copy = "dd if=/dev/zero of=/dev/null count=1 status=none && echo passed"
    host.gates.shut("dd", after=1)
    assert bed.openssh(host, f"dd --version >/dev/null; {copy}").stdout == "passed\n"
    bed.openssh(host, f"setsid sh -c '{copy} > out' </dev/null >/dev/null 2>&1 &")
    host.gates.wait_until_reached("dd")
    assert not host.path("/home/jetson/out").exists()
    host.gates.open("dd")
    wait_for(host.path("/home/jetson/out").exists)


_BED = """
import sys
from pathlib import Path
from ssh_bed import SshBed
with SshBed(Path(sys.argv[1]), Path(sys.argv[2])) as bed:
    host = bed.start()
    print(host._init.pid, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_nothing_outlives_the_process_that_made_the_bed(tmp_path: Path, ssh_tools: Path, end: int) -> None:
    argv = [sys.executable, "-c", _BED, str(tmp_path), str(ssh_tools)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(
        argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        inits = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        assert inits
        process.send_signal(end)
        process.wait(60)
    wait_for(lambda: not any(Path(f"/proc/{number}").exists() for number in [pid, *inits]))


def test_a_machine_with_a_small_disk_comes_back_from_any_number_of_reboots(bed: SshBed) -> None:
    host = bed.start(disks={"/home/jetson": 8 * 2**20})
    for number in range(3):
        assert bed.openssh(host, f"touch {number}; sync; ls | grep -c '^[0-9]'").stdout == f"{number + 1}\n"
        bed.openssh(host, "setsid sleep 1000 </dev/null >/dev/null 2>&1 &")
        host.reboot()
        assert not host.processes("sleep 1000")
    host.close()
    assert list(host.folder.glob("*.img")) == []

"""Process 1 of a machine of the bed: mounts what it needs, then starts and ends sshd as it is told on stdin.

It runs in mount, process and host name namespaces of its own. When stdin ends, however that comes about, it exits, and
the kernel ends every process of the machine and unmounts all.
"""

from __future__ import annotations

import base64
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time

LISTEN_LIMIT_S = 30
REAP_EVERY_S = 0.1
ASIDE = "/mnt"
SHARED = "/dev/shm"  # noqa: S108 - the machine's own
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


def mount(*words: str) -> None:
    call("mount", *words)


def unmount(point: str) -> None:
    call("umount", "--lazy", point)


def call(*argv: str) -> None:
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise OSError(f"{' '.join(argv)}: {done.stdout.strip()}")


class Init:
    """``config`` is what ssh_bed.host writes into machine.json."""

    def __init__(self, config: dict) -> None:
        self.config = config
        self.log = -1
        self.listener: int | None = None

    def set_up(self) -> None:
        """All mounts, host name and passwords. A machine writes into its own folder alone."""
        socket.sethostname(self.config["name"])
        mount("--bind", self.config["tools"], ASIDE)
        mount("-t", "overlay", "overlay", "-o", f"ro,lowerdir={self.config['folder']}/usr:{ASIDE}/usr:/usr", "/usr")
        upper = "upperdir={0}/etc,workdir={0}/etc.work".format(self.config["folder"])
        mount("-t", "overlay", "overlay", "-o", f"lowerdir={ASIDE}/etc:/etc,{upper}", "/etc")
        unmount(ASIDE)
        # The folder may lie below /tmp or /root, which are hidden now.
        mount("--bind", self.config["folder"], ASIDE)
        self.log = os.open(f"{ASIDE}/sshd.log", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        for point in ("/home", "/srv", "/tmp", "/var/tmp", "/root"):  # noqa: S108 - hidden by folders of the machine
            mount("--bind", ASIDE + "/root" + point, point)
        # /etc below an overlay must not change from outside while it is mounted; a plain folder may.
        mount("--bind", ASIDE + "/ssh", "/etc/ssh")
        for point in ("/run", "/var/log", "/var/mail"):
            if os.path.isdir(point):  # noqa: PTH112 - nothing is imported once /root is hidden
                mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", point)
        for disk in self.config["disks"]:
            mount("-o", "loop", f"{ASIDE}/{disk['image']}", disk["point"])
            os.chown(disk["point"], disk["owner"], disk["owner"])
            os.chmod(disk["point"], disk["mode"])  # noqa: PTH101 - as above
        for point, options in self.config["remount"]:
            mount("-o", f"remount,bind,{options}", point)
        mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", SHARED)
        mount("-t", "proc", "proc", "/proc")
        mount("--bind", f"{ASIDE}/boot_id", "/proc/sys/kernel/random/boot_id")
        unmount(ASIDE)
        mount("-o", "remount,bind,ro", "/")
        for directory in ("/run/sshd", "/run/sudo"):
            os.mkdir(directory, 0o755)  # noqa: PTH102 - as above
        if self.config["passwords"]:
            subprocess.run(["chpasswd", "-c", "SHA512"], input=self.config["passwords"], text=True, check=True)
        if self.config["clock"]:
            self.share_clock()

    def share_clock(self) -> None:
        """Make what the processes of a wrong clock share, as root's: each would remove it at its end, under the others.

        A process that is killed at once leaves it there.
        """
        environment = {"PATH": PATH, **self.config["clock"]}
        del environment["FAKETIME_SHARED"]
        with subprocess.Popen(["sh", "-c", "kill -KILL $$"], env=environment) as process:
            process.wait()
        for name in ("sem.faketime_sem", "faketime_shm"):
            left = f"{SHARED}/{name}_{process.pid}"
            os.chmod(left, 0o666)  # noqa: PTH101, S103 - as above; every user of the machine has this clock
            os.rename(left, f"{SHARED}/{name}_bed")  # noqa: PTH104 - as above

    def serve(self) -> None:
        """Answer each line of stdin, a JSON object, with one on stdout, until stdin ends."""
        rest = b""
        while True:
            if not select.select([0], [], [], REAP_EVERY_S)[0]:
                self.reap()
                continue
            data = os.read(0, 65536)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                order = json.loads(line)
                answer = getattr(self, "do_" + order.pop("do"))(**order)
                os.write(1, json.dumps(answer).encode() + b"\n")

    def reap(self) -> None:
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.listener:
                self.listener = None

    def do_start_sshd(self) -> dict:
        """Start sshd on its port and wait until it listens; ``error`` is what it said instead."""
        begin = os.lseek(self.log, 0, os.SEEK_END)
        null = os.open("/dev/null", os.O_RDWR)
        self.listener = os.posix_spawn(
            "/usr/sbin/sshd",
            ["/usr/sbin/sshd", "-D", "-e", "-f", "/etc/ssh/bed_config"],
            {"PATH": PATH},
            file_actions=[(os.POSIX_SPAWN_DUP2, *pair) for pair in ((null, 0), (null, 1), (self.log, 2))],
        )
        os.close(null)
        deadline = time.monotonic() + LISTEN_LIMIT_S
        text = ""
        while self.listener is not None and time.monotonic() < deadline:
            text = os.pread(self.log, 65536, begin).decode("utf-8", "replace")
            if "Server listening on" in text:
                return {"error": None}
            time.sleep(0.02)
            self.reap()
        self.do_signal("", signal.SIGKILL, ["sshd"])
        return {"error": text or "sshd said nothing"}

    def do_signal(self, match: str, number: int, names: list, listener: bool = True) -> dict:
        """Send a signal to the processes of these names (all, if none) whose words hold ``match``, from the oldest."""
        sent = []
        for pid, name, words in self.processes():
            if (names and name not in names) or match not in " ".join(words) or (pid == self.listener and not listener):
                continue
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue
            sent.append(pid)
        if number == signal.SIGKILL:
            self.wait_gone(sent)
        return {"sent": sent}

    def wait_gone(self, pids: list) -> None:
        deadline = time.monotonic() + LISTEN_LIMIT_S
        while time.monotonic() < deadline:
            self.reap()
            if not {pid for pid, _, _ in self.processes()} & set(pids):
                return
            time.sleep(0.01)

    def do_processes(self) -> dict:
        return {"processes": self.processes()}

    def processes(self) -> list:
        """``[pid, name, words]`` of each process but this one, zombies left out."""
        found = []
        for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):  # noqa: PTH208 - as above
            try:
                with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - as above
                    stat = file.read().decode("utf-8", "replace")
                with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 - as above
                    words = file.read().decode("utf-8", "replace").rstrip("\0").split("\0")
            except OSError:
                continue
            if pid != 1 and stat.rpartition(")")[2].split()[0] not in "ZX":
                found.append([pid, stat.partition("(")[2].rpartition(")")[0], words])
        return found

    def do_run(self, argv: list, stdin: str, limit_s: float) -> dict:
        try:
            done = subprocess.run(
                argv,
                input=base64.b64decode(stdin),
                capture_output=True,
                timeout=limit_s,
                cwd="/",
                env={"PATH": PATH},
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return {"status": -1, "stdout": "", "stderr": str(error)}
        out = base64.b64encode(done.stdout).decode()
        return {"status": done.returncode, "stdout": out, "stderr": done.stderr.decode("utf-8", "replace")}


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123 - as above
        config = json.load(file)
    init = Init(config)
    try:
        init.set_up()
    except (OSError, subprocess.CalledProcessError) as error:
        os.write(1, json.dumps({"error": str(error)}).encode() + b"\n")
        return
    os.write(1, json.dumps({"error": None}).encode() + b"\n")
    init.serve()


if __name__ == "__main__":
    main()

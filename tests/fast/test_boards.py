"""The L4T layer in a container: a board to the shell, for role logic in seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from twin.container import Container
from twin.l4t import layer
from twin.l4t.personalities import personality_named

pytestmark = pytest.mark.root
GPU = "/sys/class/devfreq/17000000.gpu"


def test_a_container_takes_on_one_board_after_another(fast_twin: Container) -> None:
    shell = fast_twin.shell
    here = names("/sys/class", "/sys/firmware")
    fastest = {}
    for name in ("orin-nano", "orin-nano-super"):
        layer.apply(shell, personality_named(name))
        assert shell.read("/etc/nv_tegra_release").startswith(b"# R36 (release)")
        fastest[name] = int(shell.read(f"{GPU}/available_frequencies").split()[-1])
        spare = {path for path, place in layer.report(shell).items() if place == "spare"}
        assert all(path == "/proc/device-tree" or path.startswith("/sys/devices/virtual/dmi/id/") for path in spare)
    assert fastest == {"orin-nano": 624_750_000, "orin-nano-super": 1_020_000_000}
    assert b"MAXN_SUPER" in shell.run(["nvpmodel", "-q"]).stdout
    fast_twin.reboot()
    assert b"MAXN_SUPER" in shell.run(["nvpmodel", "-q"]).stdout
    assert int(shell.read(f"{GPU}/available_frequencies").split()[-1]) == fastest["orin-nano-super"]
    assert shell.run(["systemctl", "is-system-running", "--wait"], check=False).stdout == b"running\n"
    assert names("/sys/class", "/sys/firmware") == here  # this machine's own
    layer.remove(shell)
    assert shell.run(["test", "-e", "/etc/nv_tegra_release"], check=False).returncode == 1
    assert shell.run(["test", "-e", GPU], check=False).returncode == 1


def names(*folders: str) -> list[str]:
    return sorted(str(path) for folder in folders for path in Path(folder).iterdir())

"""The product's parsers and the test bed's strict readers say the same of what every board of the twin prints.

The two were written apart: the readers refuse whatever no board was seen to print, the parsers take what boards may
print. Where both read a text, each value must be the same.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rerig_agent.parse.devfreq import parse_available_frequencies, parse_frequency
from rerig_agent.parse.device_tree import parse_ids, parse_strings
from rerig_agent.parse.dpkg_status import parse_packages
from rerig_agent.parse.efivar import parse_variable
from rerig_agent.parse.esrt import version_text
from rerig_agent.parse.extlinux import parse_extlinux
from rerig_agent.parse.ina3221 import parse_rails
from rerig_agent.parse.jetson_clocks import parse_show
from rerig_agent.parse.nv_boot_control import parse_boot_control, parse_spec
from rerig_agent.parse.nv_tegra_release import parse_release
from rerig_agent.parse.nvbootctrl import parse_slots
from rerig_agent.parse.nvpmodel import parse_change, parse_query, parse_query_verbose, parse_status
from rerig_agent.parse.nvpmodel_conf import parse_conf
from rerig_agent.parse.pcie_link import parse_speed, parse_width
from rerig_agent.parse.tegrastats import parse_line
from twin.l4t import shapes
from twin.l4t.bench import JETSON_CLOCKS, NVBOOTCTRL, NVPMODEL, Bench
from twin.l4t.firmware_view import EFIVARS
from twin.l4t.personalities import NX_16GB_SUPER, PERSONALITIES, PLAIN, SUPER
from twin.l4t.tegrastats_shape import read_tegrastats
from twin.l4t.values import Personality

Make = Callable[[Personality], Bench]
# One of each form; the others differ in values, and are for the full run.
FORMS = ("orin-nano-super", "orin-nano-r35", "orin-nano-r39", "orin-nx-16gb-half", "agx-orin", "thor", "unknown-board")
BOARDS = [pytest.param(name, marks=[] if name in FORMS else [pytest.mark.slow]) for name in sorted(PERSONALITIES)]
NO_CAP = (2**31 - 1, 2**63 - 1)


def number(word: str) -> int | str:
    """As the parsers give a value: no cap is -1, words stay words."""
    try:
        return -1 if int(word) in NO_CAP else int(word)
    except ValueError:
        return word


@pytest.mark.parametrize("name", BOARDS)
def test_modes_and_their_values_are_the_same(name: str, make_bench: Make) -> None:
    bench = make_bench(PERSONALITIES[name])
    asked, verbose = bench.done(NVPMODEL, "-q"), bench.done(NVPMODEL, "-q", "--verbose")
    mode, found = shapes.read_mode(asked), parse_query(asked)
    assert (found["name"], found["id"], tuple(found["warnings"])) == (mode.name, mode.id, mode.warnings)
    lines = verbose.splitlines(keepends=True)
    errors = [line for line in lines if line.startswith("NVPM ERROR: ")]
    assert bool(errors) is (name == "unknown-board")  # which has another board's file, with cores that it lacks
    _, values = shapes.read_verbose_mode("".join(line for line in lines if line not in errors))
    assert {
        (one["param"], one["arg"]): (one["path"], one["real"], one["conf"]) for one in parse_query_verbose(verbose)
    } == {key: (value.path, number(value.real), number(value.conf)) for key, value in values.items()}
    if bench.path("/var/lib/nvpmodel/status").exists():
        status = bench.read("/var/lib/nvpmodel/status")
        kept = parse_status(status)
        assert (kept["id"], kept["fan_mode"]) == shapes.read_status(status)
    conf = parse_conf(bench.read(str(bench.path("/etc/nvpmodel.conf").readlink())))
    listing = shapes.read_listing(bench.done(NVPMODEL, "-p", "--verbose"))
    models = {model["id"]: model["name"] for model in conf["models"]}
    assert models == dict(listing.models)
    assert (models[conf["default"]], conf["default"]) == listing.default
    assert {name: one["type"] for name, one in conf["params"].items()} == dict(listing.parameters)
    settings = {
        (model["id"], *key.split(" ")): value for model in conf["models"] for key, value in model["settings"].items()
    }
    assert settings == {key: number(value) for key, value in listing.values.items()}


@pytest.mark.parametrize(
    ("board", "words", "input", "answer", "outcome"),
    [
        (NX_16GB_SUPER, ("-m", "1"), "no\n", "declined", "reboot_required"),
        (NX_16GB_SUPER, ("-m", "1"), "", "eof", "reboot_required"),
        (NX_16GB_SUPER, ("-m", "1", "--force"), "", "forced", "rebooting"),
        (PLAIN, ("-m", "2"), "", "unknown", "bad_mode"),
    ],
    ids=["declined", "eof", "forced", "unknown"],
)
def test_answers_to_a_change_mean_the_same(
    board: Personality, words: tuple[str, ...], input: str, answer: str, outcome: str, make_bench: Make
) -> None:
    finished = make_bench(board).run(NVPMODEL, *words, input=input)
    assert shapes.read_answer(finished.stdout) == answer
    assert parse_change(finished.stdout, finished.returncode)["outcome"] == outcome


def test_a_change_that_is_made_is_done(make_bench: Make) -> None:
    finished = make_bench(SUPER).run(NVPMODEL, "-m", "0")
    assert parse_change(finished.stdout, finished.returncode)["outcome"] == "done"


@pytest.mark.parametrize("name", BOARDS)
def test_clocks_are_the_same(name: str, make_bench: Make) -> None:
    bench = make_bench(PERSONALITIES[name])
    text = bench.done(JETSON_CLOCKS, "--show")
    right, found = shapes.read_clocks(text), parse_show(text)
    assert [(core["min_khz"], core["max_khz"], core["now_khz"]) for core in found["cpus"]] == [
        (core.lowest, core.highest, core.now) for core in right.cores
    ]
    for key, clock in (("gpu", right.gpu), ("emc", right.memory)):
        assert [found[key][word] for word in ("min_hz", "max_hz", "now_hz")] == [clock.lowest, clock.highest, clock.now]
    assert (found["machine"], found["online"], found["tpcs"]) == (right.machine, right.online, right.clusters)
    assert (found["emc"]["override"], found["mode"]) == (right.override, right.mode)
    gpu = f"/sys/class/devfreq/{bench.personality.gpu.name}"
    steps = parse_available_frequencies(bench.read(f"{gpu}/available_frequencies"))
    assert steps == bench.personality.variants[_flavour(bench)].clocks.gpu_table_hz
    assert parse_frequency(bench.read(f"{gpu}/max_freq")) == right.gpu.highest


@pytest.mark.parametrize("name", BOARDS)
def test_what_the_firmware_says_is_the_same(name: str, make_bench: Make) -> None:
    board = PERSONALITIES[name]
    bench = make_bench(board)
    text = bench.done(NVBOOTCTRL, "dump-slots-info")
    right, found = shapes.read_slots(text), parse_slots(text)
    assert [one["status"] for one in found["slots"]] == [*right.status]
    assert [one["number"] for one in found["slots"]] == [*range(len(right.status))]
    assert (found["version"], found["capsule_status"]) == (right.version, right.capsule_status)
    assert (found["current"], found["active"]) == (right.current, right.active)
    assert (
        version_text(parse_frequency(bench.read("/sys/firmware/efi/esrt/entries/entry0/fw_version"))) == right.version
    )
    if board.tnspec:
        text = bench.read("/etc/nv_boot_control.conf")
        control = parse_boot_control(text)
        assert control == dict(shapes.read_boot_control(text))
        for key in ("TNSPEC", "COMPATIBLE_SPEC"):
            assert parse_spec(control[key])["super"] is ("-super-" in control[key])
    for path in sorted(bench.path(EFIVARS).glob("TegraPlatform*")):
        assert parse_spec(parse_variable(path.read_bytes().hex())["text"] or "")["fields"]["id"] == "3767"


@pytest.mark.parametrize("name", BOARDS)
def test_what_the_board_is_and_draws_is_the_same(name: str, make_bench: Make) -> None:
    board = PERSONALITIES[name]
    bench = make_bench(board)
    text = bench.read("/etc/nv_tegra_release")
    release = parse_release(text)
    assert (release["major"], release["minor"], release["patch"]) == shapes.read_release(text.splitlines()[0])
    packages = parse_packages(bench.read("/var/lib/dpkg/status"), "nvidia-l4t-core")
    assert packages == {"nvidia-l4t-core": f"{board.release.version}-{board.release.build}"}
    assert parse_strings(bench.read("/proc/device-tree/compatible"))[-1] == f"nvidia,{board.soc}"
    if board.ids:
        module, carrier = (tuple(word.split("-")) for word in board.ids.split())
        assert parse_ids(bench.read("/proc/device-tree/chosen/ids")) == {"module": module, "carrier": carrier}
    started = parse_extlinux(bench.read("/boot/extlinux/extlinux.conf"))
    assert started["linux"] == "/boot/Image"
    assert (started["fdt"] is None) is (board.fdt is None)
    assert started["root"]
    for link in board.nvme_links:
        assert parse_speed(link.max_link_speed) == float(link.max_link_speed.split()[0])
        assert parse_width(link.current_link_width) == int(link.current_link_width)
    (folder,) = bench.path("/sys/bus/i2c/drivers/ina3221/1-0040/hwmon").glob("hwmon*")
    rails = parse_rails({path.name: path.read_text() for path in folder.iterdir() if path.is_file()})
    assert {rail: (one["mv"], one["ma"]) for rail, one in rails.items()} == {
        one.label: (one.millivolts, one.milliamperes) for one in board.rails
    }


@pytest.mark.parametrize("name", BOARDS)
def test_lines_of_tegrastats_hold_the_same(name: str) -> None:
    board = PERSONALITIES[name]
    for line in {*board.tegrastats, *board.tegrastats_as_root}:
        right, found = read_tegrastats(line), parse_line(line)
        assert (found["ram_used_mb"], found["ram_total_mb"]) == right.ram_mb
        assert (found["swap_used_mb"], found["swap_total_mb"]) == (right.swap_mb or (None, None))
        assert ["off" if core is None else f"{core['load']}%@{core['mhz']}" for core in found["cpus"]] == [*right.cores]
        heat = dict(field.split("@") for field in right.of("temperature"))
        assert found["temperatures"] == {
            sensor.lower(): float(value.partition("C")[0]) for sensor, value in heat.items()
        }
        power = dict(field.split(" ") for field in right.of("rail"))
        assert {rail: [one["now_mw"], one["average_mw"]] for rail, one in found["rails"].items()} == {
            rail: [int(part.removesuffix("mW")) for part in value.split("/")[:2]] for rail, value in power.items()
        }
        assert (found["emc"] is None) is (right.of("emc") == ())
        engines = len(right.of("engine")) + len(right.of("gpu"))
        assert len(found["engines"]) + (found["gpu"] is not None) == engines


def _flavour(bench: Bench) -> str:
    board = bench.personality
    return board.slots[board.current_slot].flavour

"""Which configuration of nvpmodel a board has, who chooses it, and what stands in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from twin.l4t import power_models, shapes
from twin.l4t.bench import NVPMODEL, NVPOWER, Bench
from twin.l4t.personalities import AGX, PERSONALITIES, PLAIN, STRANGER, SUPER, THOR
from twin.l4t.values import Personality

Make = Callable[[Personality], Bench]
STATUS = "/var/lib/nvpmodel/status"


def test_a_link_made_by_hand_is_undone_at_boot_and_the_mode_falls_back(make_bench: Make) -> None:
    bench = make_bench(PLAIN)
    link = bench.path("/etc/nvpmodel.conf")
    link.unlink()
    link.symlink_to("/etc/nvpmodel/nvpmodel_p3767_0003_super.conf")
    bench.done(NVPMODEL, "-m", "1")
    assert shapes.read_mode(bench.done(NVPMODEL, "-q")).name == "25W"
    bench.boot()
    assert str(link.readlink()) == "/etc/nvpmodel/nvpmodel_p3767_0003.conf"
    assert shapes.read_mode(bench.done(NVPMODEL, "-q")).name == "15W"
    kept = bench.read("/etc/nvpmodel_nvbackup.conf")
    assert kept == power_models.conf_text(power_models.CONFS["nvpmodel_p3767_0003_super.conf"])


def test_a_right_link_keeps_the_mode(make_bench: Make) -> None:
    bench = make_bench(SUPER)
    bench.done(NVPMODEL, "-m", "0")
    bench.done(NVPOWER)
    assert not bench.path("/etc/nvpmodel_nvbackup.conf").exists()
    assert shapes.read_status(bench.read(STATUS)) == (0, "fan_mode_quiet")


@pytest.mark.parametrize("board", [AGX, STRANGER, THOR], ids=lambda board: board.name)
def test_nvpower_gives_a_board_that_it_does_not_know_the_agx_s_file(board: Personality, make_bench: Make) -> None:
    bench = make_bench(board)
    file = "nvpmodel_p3834_0008.conf" if board is THOR else "nvpmodel_p3701_0000.conf"
    assert bench.path("/etc/nvpmodel.conf").readlink().name == file


@pytest.mark.parametrize("name", power_models.CONFS)
def test_every_path_of_a_configuration_leads_somewhere_on_its_board(name: str, make_bench: Make) -> None:
    boards = {board.conf: board for board in PERSONALITIES.values() if board.release.major >= 36}
    if name not in boards:
        boards[name] = replace(PLAIN, conf=name, nvpower=False, mode=None)
    bench = make_bench(boards[name])
    text = bench.read(f"/etc/nvpmodel/{name}")
    paths = re.findall(r"^\w+_KNEXT (/\S+)$", text, re.MULTILINE)
    assert len(paths) > 10
    if boards[name].cores >= power_models.CONFS[name].all_cores:
        assert [path for path in paths if not bench.path(path).exists()] == []


@pytest.mark.parametrize(
    ("conf", "mode", "values"),
    [
        ("nvpmodel_p3767_0003_super.conf", "25W", (6, 1_344_000, 918_000_000, 3_199_000_000, 240)),
        ("nvpmodel_p3767_0003.conf", "7W", (4, 960_000, 408_000_000, 2_133_000_000, 252)),
        ("nvpmodel_p3767_0004_super.conf", "25W", (6, 1_728_000, 1_020_000_000, 3_199_000_000, 252)),
        ("nvpmodel_p3767_0004.conf", "7W_CPU", (4, 960_000, 306_000_000, 2_133_000_000, 252)),
        ("nvpmodel_p3767_0001_super.conf", "20W", (6, 1_497_600, 408_000_000, -1, 240)),
        ("nvpmodel_p3767_0001.conf", "15W", (4, 1_420_800, 612_000_000, 0, 252)),
        ("nvpmodel_p3767_0000_super.conf", "40W", (8, 1_497_600, 1_173_000_000, -1, 240)),
        ("nvpmodel_p3767_0000.conf", "15W", (4, 1_651_200, 612_000_000, 0, 252)),
    ],
)
def test_the_modes_are_those_of_the_public_files(conf: str, mode: str, values: tuple[int, ...]) -> None:
    (model,) = (one for one in power_models.CONFS[conf].models if one.name == mode)
    assert (model.cores, model.cpu_max_khz, model.gpu_max_hz, model.emc_max_hz, model.tpc_pg_mask) == values

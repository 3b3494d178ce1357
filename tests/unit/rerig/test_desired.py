"""What hosts are to be like: the roles' defaults under an inventory, filled in by Ansible without meeting any host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rerig import desired
from rerig.desired import check_values, desired_values, render_desired, role_defaults
from rerig.errors import UserError

LAB = """\
all:
  vars: {mode_of_the_lab: 15W, headless_zram: swapfile, power_mode_persist_clocks: true}
  children:
    boards:
      hosts:
        orin: {ansible_host: 192.0.2.7, power_mode_name: "{{ mode_of_the_lab }}", ansible_connection: no_such_plugin}
        nano:
          ansible_host: "{{ inventory_hostname }}.example.net"
          ansible_python_interpreter: /opt/python3
          headless_zram: keep
        unfinished: {power_mode_name: "{{ nobody_sets_this }}"}
        unquoted: {headless_zram: off}
"""


@pytest.fixture
def lab(tmp_path: Path) -> str:
    path = tmp_path / "lab with a space.yml"
    path.write_text(LAB, "utf-8")
    return str(path)


def test_the_inventory_lies_over_the_defaults_and_templates_are_filled_in(lab: str) -> None:
    found = render_desired(lab, ["orin", "nano"])
    orin, nano = found["orin"], found["nano"]
    assert (orin["power_mode_name"], orin["headless_zram"], orin["power_mode_persist_clocks"]) == (
        "15W",
        "swapfile",
        True,
    )
    assert (nano["power_mode_name"], nano["headless_zram"]) == ("MAXN_SUPER", "keep")
    assert (orin["ansible_python_interpreter"], nano["ansible_python_interpreter"]) == ("", "/opt/python3")
    assert (orin["ansible_host"], nano["ansible_host"]) == ("192.0.2.7", "nano.example.net")
    assert set(orin) - {"ansible_host"} == {*role_defaults(), "ansible_python_interpreter"}


def test_an_off_without_quotes_is_taken_as_the_role_takes_it(lab: str) -> None:
    assert desired_values(lab, "unquoted")["headless_zram"] == "off"


def test_variables_of_a_folder_beside_the_inventory_count(tmp_path: Path) -> None:
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "group_vars" / "boards.yml").write_text("headless_target: graphical.target\n", "utf-8")
    (tmp_path / "hosts.yml").write_text("boards: {hosts: {orin: }}\n", "utf-8")
    values = desired_values(str(tmp_path), "orin")
    assert values["headless_target"] == "graphical.target"
    assert values["power_mode_fan_profile"] is None


def test_this_machine_has_the_defaults() -> None:
    values = desired_values(None, "localhost")
    assert {name: values[name] for name in role_defaults()} == role_defaults()


@pytest.mark.parametrize(
    ("host", "sentence"),
    [
        ("unfinished", r"The values of unfinished .* can't be filled in: .*'nobody_sets_this' is undefined"),
        ("nobody", r"The inventory has no host nobody\."),
    ],
)
def test_what_can_not_be_filled_in_is_one_sentence(lab: str, host: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence) as caught:
        desired_values(lab, host)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"headless_stopped_services": "cups"},
            "orin: headless_stopped_services of the inventory must be a list of names.",
        ),
        ({"power_mode_name": 15}, "orin: power_mode_name of the inventory must be a word."),
        ({"headless_target": ""}, "orin: headless_target of the inventory must be a word."),
        (
            {"headless_zram": "no\nswap"},
            r"orin: headless_zram of the inventory is no\nswap; it can be keep, off, swapfile.",
        ),
    ],
)
def test_values_that_no_role_would_take_are_one_sentence(wrong: dict[str, Any], sentence: str) -> None:
    check_values("orin", role_defaults())
    with pytest.raises(UserError) as caught:
        check_values("orin", {**role_defaults(), **wrong})
    assert str(caught.value) == sentence


def test_an_ansible_that_hangs_is_one_sentence(lab: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desired, "LIMIT_S", 0.01)
    with pytest.raises(UserError, match=r"not filled in within 0\.01 s"):
        desired_values(lab, "orin")

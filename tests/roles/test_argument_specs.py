"""Every role's variables: documented, typed, and with their values in one place only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROLES = sorted(path for path in (Path(__file__).resolve().parents[2] / "roles").iterdir() if path.is_dir())
every_role = pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)


def load(path: Path) -> dict[str, Any]:
    document = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(document, dict), path
    return document


def options(role: Path) -> dict[str, Any]:
    found = load(role / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]
    assert isinstance(found, dict)
    return found


def test_there_are_roles() -> None:
    assert ROLES


@every_role
def test_defaults_and_argument_specs_name_the_same_variables(role: Path) -> None:
    assert set(load(role / "defaults" / "main.yml")) == set(options(role))


@every_role
def test_argument_specs_hold_no_second_copy_of_a_default(role: Path) -> None:
    assert [name for name, option in options(role).items() if "default" in option] == []


@every_role
def test_every_option_has_a_type_and_a_description(role: Path) -> None:
    for name, option in options(role).items():
        assert {"type", "description"} <= set(option), name


@every_role
def test_public_variables_carry_the_roles_name(role: Path) -> None:
    assert all(name.startswith(f"{role.name}_") for name in options(role))


@every_role
def test_internal_variables_carry_underscores_and_the_roles_name(role: Path) -> None:
    path = role / "vars" / "main.yml"
    assert not path.exists() or all(name.startswith(f"__{role.name}_") for name in load(path))


@every_role
def test_the_readme_lists_every_variable(role: Path) -> None:
    text = (role / "README.md").read_text("utf-8")
    assert [name for name in options(role) if f"`{name}`" not in text] == []

"""What tells of a board's firmware: board specs, slots, releases, UEFI's variables, the ESRT's versions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError
from rerig_agent.parse.efivar import parse_variable
from rerig_agent.parse.esrt import version_text
from rerig_agent.parse.nv_boot_control import FIELDS, parse_boot_control, parse_spec
from rerig_agent.parse.nv_tegra_release import parse_release
from rerig_agent.parse.nvbootctrl import parse_slots

RECORDED = Path(__file__).resolve().parents[3] / "fixtures" / "l4t"
SUPER = "jetson-orin-nano-devkit-super"


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text("utf-8")


# Board specs.


@pytest.mark.parametrize("spec", recorded("tnspecs").splitlines())
def test_every_recorded_spec_says_whether_it_is_super(spec: str) -> None:
    found = parse_spec(spec + "\n")
    assert (found["fields"]["id"], found["fields"]["sku"]) == ("3767", "0005")
    assert found["super"] is ("-super-" in spec)
    assert found["board"] == (SUPER if found["super"] else "jetson-orin-nano-devkit")
    assert found["root_device"] == ""
    assert "-".join(found["tokens"]) == spec


def test_a_spec_s_places_have_their_names() -> None:
    fields = parse_spec("3767-302-0005-J.1-1-0-jetson-orin-nano-devkit-super-")["fields"]
    assert [fields[name] for name in FIELDS] == ["3767", "302", "0005", "J.1", "1", "0"]


@pytest.mark.parametrize(
    ("spec", "is_super"),
    [
        ("3767--0005--1--jetson-orin-nano-devkit-super-", True),
        ("3767--0005--1--jetson-orin-nano-devkit-super-maxn-", True),
        ("3767-000-0000--1--jetson-orin-nano-devkit-super-nvme0n1p1", True),
        ("3767--0005--1--jetson-orin-nano-devkit-", False),
        ("3767-300-0005-R.1-1-1-jetson-orin-nano-devkit-superb-nvme0n1p1", False),
        ("3767-300-0005-R.1-1-1-jetson-orin-nano-devkit-super", False),  # the last place is the root device
        ("3701-TS4-0005-J.0-0-0-jetson-agx-orin-devkit-", False),
    ],
)
def test_super_is_a_word_of_the_board_s_name(spec: str, is_super: bool) -> None:
    assert parse_spec(spec)["super"] is is_super


@pytest.mark.parametrize(
    "spec",
    [
        *(
            "",
            "-",
            "-------",
            "3767--0005--1--",
            "3767-jetson",
            "3767--0005--1-jetson-",
            "\u0663767--0005--1--jetson-a-",
        ),
        "3767-0005-300--1--jetson-orin-nano-devkit-super-",  # another order of places
        *("3767--00055--1--jetson-orin-", "37677--0005--1--jetson-orin-", "3767-3000-0005--1--jetson-orin-"),
        "3767--0005--1--jetson orin-",
        "3767--0005--1--jetson-orin-\0",
        "-3767--0005--1--jetson-orin-",
    ],
)
def test_what_is_no_spec_is_refused(spec: str) -> None:
    with pytest.raises(ParseError):
        parse_spec(spec)


TOKENS = st.from_regex(r"[A-Za-z0-9.]{1,8}", fullmatch=True)


@given(
    st.lists(TOKENS, min_size=1, max_size=6),
    st.sampled_from(["", "300", "EB1"]),
    TOKENS,
    st.sampled_from(["", "mmcblk0p1"]),
)
def test_a_written_spec_reads_back(board: list[str], fab: str, revision: str, device: str) -> None:
    found = parse_spec("-".join(["3767", fab, "0005", revision, "1", "0", *board, device]))
    assert (found["fields"]["fab"], found["fields"]["revision"]) == (fab, revision)
    assert (found["board"], found["root_device"], found["super"]) == ("-".join(board), device, "super" in board)


CONTROL = recorded("boot_control_super")


@pytest.mark.parametrize(
    "text", [CONTROL, CONTROL.replace("\n", "  \r\n"), f"$ cat /etc/nv_boot_control.conf\n{CONTROL}"]
)
def test_the_boot_control_file_is_names_and_words(text: str) -> None:
    found = parse_boot_control(text)
    assert len(found) == 8
    assert found["TNSPEC"] == f"3767-300-0005-S.1-1-1-{SUPER}-"
    assert parse_spec(found["COMPATIBLE_SPEC"])["fields"]["fab"] == ""
    assert (found["TEGRA_BOOT_STORAGE"], found["TEGRA_CHIPID"]) == ("nvme0n1", "0x23")


def test_a_line_without_a_value_is_no_value() -> None:
    assert parse_boot_control(CONTROL.replace("nvme0n1", "")).keys() == parse_boot_control(CONTROL).keys() - {
        "TEGRA_BOOT_STORAGE"
    }


@pytest.mark.parametrize(
    "text", ["", "TNSPEC\n", "TNSPEC a b\n", "tnspec a\n", "\0" * 100, CONTROL + "\0", CONTROL + "TNSPEC 3767-x\n"]
)
def test_an_empty_torn_or_contradictory_boot_control_file_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_boot_control(text)


def test_a_line_that_stands_twice_says_the_same() -> None:
    assert parse_boot_control(CONTROL + CONTROL) == parse_boot_control(CONTROL)


# UEFI's variables, the ESRT.


def test_a_variable_is_its_attributes_and_its_value() -> None:
    spec = parse_variable((b"\7\0\0\0" + b"3767--0005--1--jetson-orin-nano-devkit-\0").hex() + "\n")
    assert (spec["attributes"], spec["text"], spec["number"]) == (7, "3767--0005--1--jetson-orin-nano-devkit-", None)
    number = parse_variable("0700000001000000")
    assert (number["attributes"], number["number"], number["text"]) == (7, 1, None)
    wish = parse_variable("07000000" + "0400000000000000")  # OsIndications: there is a capsule on the disk
    assert (wish["number"], wish["value_hex"]) == (4, "0400000000000000")
    assert [parse_variable("07000000" + byte)["text"] for byte in ("1f", "20", "7e", "7f")] == [None, " ", "~", None]
    empty = parse_variable("06000000")
    assert (empty["value_hex"], empty["text"], empty["number"]) == ("", None, None)


@given(st.integers(0, 2**32 - 1), st.binary(max_size=200))
def test_a_written_variable_reads_back(attributes: int, value: bytes) -> None:
    found = parse_variable((attributes.to_bytes(4, "little") + value).hex())
    assert (found["attributes"], bytes.fromhex(found["value_hex"])) == (attributes, value)
    assert found["text"] is None or found["text"].encode() == value.rstrip(b"\0\n")


@pytest.mark.parametrize(
    "text", ["", "07", "0700000", "070000000", "0x07000000", "07 00 00 00", "\u0660" * 8, "00" * 70_000]
)
def test_what_is_no_variable_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_variable(text)


@pytest.mark.parametrize("line", recorded("esrt_versions").splitlines())
def test_esrt_s_numbers_are_versions(line: str) -> None:
    number, version = line.split()
    assert version_text(int(number)) == version


@given(st.integers(0, 65535), st.integers(0, 255), st.integers(0, 255))
def test_a_written_version_reads_back(major: int, minor: int, patch: int) -> None:
    assert version_text(major << 16 | minor << 8 | patch) == f"{major}.{minor}.{patch}"


@pytest.mark.parametrize("number", [-1, 2**32, 10**30])
def test_what_does_not_fit_into_the_table_is_no_version(number: int) -> None:
    assert version_text(number) is None


# The release.


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("# R35 (release), REVISION: 4.1, GCID: 33958178, BOARD: t186ref, EABI: aarch64, DATE: x", "35.4.1"),
        ("# R35 (release), REVISION: 6.1, GCID: 1, BOARD: t186ref, EABI: aarch64", "35.6.1"),
        ("# R36 (release), REVISION: 3.0, GCID: 36191598, BOARD: generic, EABI: aarch64, DATE: x", "36.3.0"),
        ("# R36 (release), REVISION: 4.4.1, GCID: 1, BOARD: generic", "36.4.4.1"),
        ("# R36 (release), REVISION: 4.7", "36.4.7"),
        ("# R38 (release), REVISION: 4.0, GCID: 43443517, BOARD: generic, EABI: aarch64, DATE: x", "38.4.0"),
        ("# R39 (release), REVISION: 2.1, GCID: 46758480, BOARD: generic, EABI: aarch64, DATE: x", "39.2.1"),
        *((line, f"36.{line.split()[4].rstrip(',')}") for line in recorded("releases").splitlines()),
    ],
)
def test_releases_come_out_as_they_are(line: str, version: str) -> None:
    for text in (f"{line}\n# KERNEL_VARIANT: oot\n", f"$ head -1 /etc/nv_tegra_release\r\n{line}  \r\n"):
        assert parse_release(text)["version"] == version


def test_the_rest_of_a_release_s_line_is_read_where_it_is_there() -> None:
    assert parse_release(recorded("release_file")) == {
        "version": "36.4.3",
        "major": 36,
        "minor": 4,
        "patch": 3,
        "gcid": "38968081",
        "board": "generic",
        "date": "Wed Jan  8 01:49:37 UTC 2025",
    }
    short = parse_release("# R36 (release), REVISION: 4.4.1, GCID: 5\n")
    assert (short["patch"], short["gcid"], short["board"], short["date"]) == (4, "5", None, None)


@pytest.mark.parametrize(
    "text",
    [
        *("", "\0", "# R36 (release)", "# R36 (release), REVISION: 4", "# R36 (release), REVISION: 4.", "R36.4.7"),
        *("# R36 (release), REVISION: 4.1234", "# R36 (release), REVISION: 4.7x", "# R-36 (release), REVISION: 4.7"),
        *(
            "# R\u0663\u0666 (release), REVISION: 4.7",
            "see # R36 (release), REVISION: 4.7",
            "# R36 (beta), REVISION: 4.7",
        ),
    ],
)
def test_what_is_no_release_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_release(text)


# Slots.

SLOTS = recorded("slots")


@pytest.mark.parametrize(
    "text",
    [
        SLOTS,
        SLOTS.replace("\n", " \r\n"),
        f"root@board:~# nvbootctrl dump-slots-info\n{SLOTS}",
        "".join(f"  {line}\n" for line in SLOTS.splitlines()),
        f"Info: variable BootChainFwStatus is not found.\n{SLOTS}",
    ],
)
def test_slots_are_read(text: str) -> None:
    assert parse_slots(text) == {
        "version": "36.4.7",
        "capsule_status": 0,
        "current": "B",
        "active": "B",
        "slots": [{"number": 0, "status": "normal"}, {"number": 1, "status": "normal"}],
    }


@pytest.mark.parametrize(
    ("version", "status"), [("35.5.0", 0), ("35.4.1", 1), ("39.2.1", 0), ("36.4.7", 2), ("36.4.7", 3)]
)
@pytest.mark.parametrize("slots", ["AB", "BA", "AA"])
def test_every_part_of_the_slots_is_its_own(version: str, status: int, slots: str) -> None:
    found = parse_slots(
        f"Current version: {version}\nCapsule update status: {status}\nCurrent bootloader slot: {slots[0]}\n"
        f"Active bootloader slot: {slots[1]}\nnum_slots: 2\nslot: 0,             status: normal\n"
        "slot: 1,             status: unbootable\n"
    )
    assert (found["version"], found["capsule_status"]) == (version, status)
    assert (found["current"], found["active"]) == tuple(slots)
    assert [slot["status"] for slot in found["slots"]] == ["normal", "unbootable"]


def test_older_forms_print_less_of_the_slots() -> None:
    old = "Current bootloader slot: A\nActive bootloader slot: A\nnum_slots: 1\nslot: 0, priority: 15, suffix: _a\n"
    assert parse_slots(old) == {"version": None, "capsule_status": None, "current": "A", "active": "A", "slots": []}
    assert parse_slots("Current slot: 1\n")["current"] == "B"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Please run as root\n",
        "Current version: 36.4.7\nCapsule update status: 0\n",
        "Current rootfs slot: A\nActive rootfs slot: A\nnum_slots: 1\nslot: 0, retry_count: 3, status: normal\n",
        SLOTS.replace("loader slot: B", "loader slot: C"),
        SLOTS.replace("slot: 1,             status: normal\n", ""),
        SLOTS.replace("slot: 1, ", "slot: -1, "),
        SLOTS.replace("slot: 1, ", "slot: \u0661, "),
        SLOTS.replace("normal", "n0rmal"),
        SLOTS.replace("normal", "\x1b[2J"),
        SLOTS + "\0",
    ],
)
def test_torn_or_strange_slots_are_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_slots(text)


def test_a_version_that_is_none_is_not_known() -> None:
    for other in ("36.4.7777", "unknown", "36", "-36.4.7"):
        assert parse_slots(SLOTS.replace("36.4.7", other))["version"] is None

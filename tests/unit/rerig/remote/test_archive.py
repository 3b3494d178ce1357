"""Archives from machines that are not trusted: whole run directories, or nothing at all."""

from __future__ import annotations

import io
import json
import os
import tarfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerig.errors import UserError
from rerig.remote import archive
from rerig.remote.archive import read_plan, unpack

RUN_ID = "20260131T081500Z-1a2b3c"
PLAN = json.dumps({"run_id": RUN_ID, "suite": {"name": "storage"}}).encode()
Members = list[tuple[tarfile.TarInfo, bytes]]


def member(name: str, data: bytes = b"x", **fields: Any) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def packed(*members: tuple[tarfile.TarInfo, bytes], plan: bytes = PLAN) -> io.BytesIO:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info, data in [member("plan.json", plan), *members]:
            tar.addfile(info, io.BytesIO(data))
    return file


def folder(name: str) -> tuple[tarfile.TarInfo, bytes]:
    return member(name, b"", type=tarfile.DIRTYPE)


def tree(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.fixture
def destination(tmp_path: Path) -> Path:
    return tmp_path / "runs" / RUN_ID


def refusal(file: io.BytesIO, destination: Path) -> str:
    """The sentence; nothing may have been left, nor an earlier copy be touched."""
    before = tree(destination.parent) if destination.parent.exists() else {}
    with pytest.raises(UserError) as caught:
        unpack(file, destination)
    assert (tree(destination.parent) if destination.parent.exists() else {}) == before
    assert [path.name for path in destination.parent.glob(".*")] == []
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_a_run_directory_comes_out_as_it_went_in(destination: Path) -> None:
    unpack(packed(folder("cases"), folder("cases/a.b"), member("cases/a.b/r1/stdout.txt", b"17 MB/s\n")), destination)
    assert tree(destination) == {"plan.json": PLAN, "cases/a.b/r1/stdout.txt": b"17 MB/s\n"}
    assert [path.name for path in destination.parent.iterdir()] == [RUN_ID]


def test_modes_owners_and_times_of_the_archive_are_not_taken_over(destination: Path) -> None:
    unpack(packed(member("tool", mode=0o4777, uid=12345, gid=12345, mtime=10**12)), destination)
    found = (destination / "tool").stat()
    assert found.st_mode & 0o7111 == 0
    assert found.st_uid == os.geteuid()


def test_a_name_may_begin_with_this_directory(destination: Path) -> None:
    unpack(packed(folder("."), folder("./cases"), member("./cases/x")), destination)
    assert (destination / "cases/x").is_file()


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "/outside",
        "cases/../../outside",
        "cases/..",
        "cases//x",
        ".hidden",
        "cases/.hidden",
        "a\\b",
        "a\nb",
        "a\x1b[2J",
        "한글",
        "-rf",
        "a:b",
        "x" * 129,
        "/".join("abcdefghi"),
        "",
    ],
)
def test_an_odd_name_is_refused(destination: Path, name: str) -> None:
    assert refusal(packed(member(name)), destination).startswith("The archive holds ")
    assert not (destination.parent.parent / "outside").exists()


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, b"V", b"M"]
)
def test_what_is_no_plain_file_is_refused(destination: Path, kind: bytes) -> None:
    said = refusal(packed(member("cases", b"", type=kind, linkname="/etc")), destination)
    assert said == "The archive holds 'cases', which is no plain file."


def test_a_link_can_not_lead_what_follows_astray(destination: Path, tmp_path: Path) -> None:
    link = member("cases", b"", type=tarfile.SYMTYPE, linkname=str(tmp_path))
    refusal(packed(link, member("cases/passwd")), destination)
    assert not (tmp_path / "passwd").exists()


def test_a_name_that_stands_twice_is_refused(destination: Path) -> None:
    assert refusal(packed(member("a"), member("a")), destination) == (
        "The archive holds a name twice: it is not unpacked."
    )


def test_a_file_below_a_file_is_refused(destination: Path) -> None:
    refusal(packed(member("a"), member("a/b")), destination)


def test_an_archive_of_another_run_is_refused(destination: Path) -> None:
    other = json.dumps({"run_id": "../other\n"}).encode()
    assert refusal(packed(plan=other), destination) == (f"The archive holds the run '../other\\\\n', not {RUN_ID}.")


@pytest.mark.parametrize("plan", [b"", b"[]", b"{}", b'{"run_id": 7}', b"[" * 100_000, b"\xff"])
def test_an_archive_without_a_sound_plan_is_refused(destination: Path, plan: bytes) -> None:
    assert refusal(packed(plan=plan), destination) == (
        "The archive holds no run directory: there is no plan.json in it."
    )


@pytest.mark.parametrize("data", [b"", b"no tar", bytes(10240), b"\x1f\x8b\x08" + bytes(600)])
def test_what_is_no_archive_is_refused(destination: Path, data: bytes) -> None:
    refusal(io.BytesIO(data), destination)


def test_an_archive_that_is_cut_anywhere_is_refused(destination: Path) -> None:
    """Between two files as well, where tarfile sees no fault."""
    whole = packed(*(member(f"f{number}", b"x" * 700) for number in range(3))).getvalue()
    end = len(whole.rstrip(b"\0")) // 512 * 512 + 512
    for length in [*range(0, end + 1024, 512), 700, end + 1023]:
        refusal(io.BytesIO(whole[:length]), destination)
    unpack(io.BytesIO(whole[: end + 1024]), destination)
    assert len(tree(destination)) == 4


def test_a_damaged_header_is_refused_and_not_taken_for_the_end(destination: Path) -> None:
    whole = bytearray(packed(member("a", b"x"), member("b", b"x")).getvalue())
    header = bytes(whole).index(b"b\0", 2000)
    whole[header + 1] ^= 0xFF
    assert refusal(io.BytesIO(bytes(whole)), destination).startswith("The archive is damaged")


def test_an_archive_that_is_too_large_is_refused(destination: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES", 1000)
    assert "larger than any run" in refusal(packed(member("a", bytes(1000))), destination)
    monkeypatch.setattr(archive, "MOST_MEMBERS", 3)
    assert "more files than any run" in refusal(packed(*(folder(f"d{n}") for n in range(5))), destination)


def test_a_file_that_claims_a_huge_size_is_refused(destination: Path) -> None:
    file = packed(member("z", b"x"))
    data = bytearray(file.getvalue())
    info, _ = member("z")
    info.size = 3 * 2**30
    header = info.tobuf(tarfile.GNU_FORMAT)
    start = bytes(data).index(b"z\0", 500)
    data[start : start + 512] = header
    refusal(io.BytesIO(bytes(data)), destination)


def test_a_sparse_file_is_refused(destination: Path) -> None:
    info, data = member("hole", b"")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(2**40)}
    refusal(packed((info, data)), destination)


def test_a_plan_that_is_too_large_is_not_read(destination: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LARGEST_PLAN_BYTES", len(PLAN) - 1)
    assert "no plan.json" in refusal(packed(), destination)


def test_an_earlier_copy_is_replaced_by_a_whole_one_only(destination: Path) -> None:
    unpack(packed(member("old")), destination)
    refusal(packed(member("new"), member("../evil")), destination)
    assert set(tree(destination)) == {"plan.json", "old"}
    unpack(packed(member("new")), destination)
    assert set(tree(destination)) == {"plan.json", "new"}
    assert [path.name for path in destination.parent.iterdir()] == [RUN_ID]


def test_what_a_killed_unpacking_left_is_cleared(destination: Path) -> None:
    part = destination.with_name(f".{RUN_ID}.part")
    (part / "cases").mkdir(parents=True)
    unpack(packed(), destination)
    assert [path.name for path in destination.parent.iterdir()] == [RUN_ID]


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_no_run_directory_is_not_overwritten(destination: Path, tmp_path: Path, kind: str) -> None:
    destination.parent.mkdir()
    if kind == "file":
        destination.write_text("mine")
    else:
        (tmp_path / "elsewhere").mkdir()
        destination.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="is there and is no run directory; nothing is overwritten"):
        unpack(packed(), destination)
    assert kind == "link" or destination.read_text() == "mine"


def test_a_destination_that_can_not_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(UserError, match=r"^The run can't be kept in .*: .*\.$"):
        unpack(packed(), tmp_path / "runs" / RUN_ID)


def test_the_plan_is_read_without_unpacking() -> None:
    assert read_plan(packed(member("a")))["run_id"] == RUN_ID
    with pytest.raises(UserError, match="no run directory"):
        read_plan(packed(plan=b"{}"))


def damaged(whole: bytes, changes: list[tuple[int, int]]) -> bytes:
    data = bytearray(whole)
    for place, value in changes:
        data[place % len(data)] = value
    return bytes(data)


WHOLE = packed(folder("cases"), member("cases/a", b"x" * 600), member("b" * 120), member("c", b"")).getvalue()


@given(st.lists(st.tuples(st.integers(0, len(WHOLE)), st.integers(0, 255)), max_size=6), st.integers(0, len(WHOLE)))
def test_no_damage_does_more_than_refuse(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]], length: int
) -> None:
    place = tmp_path_factory.mktemp("damaged")
    destination = place / "runs" / RUN_ID
    for data in (damaged(WHOLE, changes), damaged(WHOLE, changes)[:length]):
        with suppress(UserError):
            unpack(io.BytesIO(data), destination)
    assert {path.name for path in place.iterdir()} <= {"runs"}
    assert {path.name for path in (place / "runs").iterdir()} <= {RUN_ID} if (place / "runs").exists() else True
    assert not any(path.is_symlink() for path in place.rglob("*"))


NAMES = st.lists(st.sampled_from(["a", "..", ".", "", "b", "A", "cases", "\n", "/"]), min_size=1, max_size=4)
KINDS = st.sampled_from([tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.AREGTYPE])


@given(st.lists(st.tuples(NAMES, KINDS, st.binary(max_size=20)), max_size=5))
def test_no_archive_reaches_beyond_its_directory(
    tmp_path_factory: pytest.TempPathFactory, parts: list[tuple[list[str], bytes, bytes]]
) -> None:
    place = tmp_path_factory.mktemp("hostile")
    members = [
        member(
            "/".join(names), data if kind in (tarfile.REGTYPE, tarfile.AREGTYPE) else b"", type=kind, linkname="/etc"
        )
        for names, kind, data in parts
    ]
    with suppress(UserError):
        unpack(packed(*members), place / "runs" / RUN_ID)
    assert {path.name for path in place.iterdir()} <= {"runs"}
    assert not any(path.is_symlink() for path in place.rglob("*"))


def test_a_full_disk_is_one_sentence(destination: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive.shutil, "copyfileobj", full)
    assert refusal(packed(member("a")), destination) == (
        f"The run can't be kept in {destination.parent}: No space left on device."
    )

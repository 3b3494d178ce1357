"""Mounts as the kernel lists them, their options, and which of them holds a path."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rerig_agent.parse import ParseError, mountinfo
from rerig_agent.parse.mountinfo import (
    find_mount,
    option_value,
    parse_mount_listing,
    parse_mountinfo,
    parse_nfs_options,
    unescape,
)

FOLDER = "mountinfo"
ROOT = "25 1 254:1 / / rw - ext4 /dev/vda1 rw\n"


def test_a_case_is_read_right(case: Any, agree: Callable[[Any, Any], None]) -> None:
    parser = getattr(mountinfo, case.right["parser"])
    if case.right.get("refused"):
        with pytest.raises(ParseError):
            parser(case.text)
    elif "gives" in case.right:
        found, right = parser(case.text), case.right["gives"]
        agree(found[: len(right)], right)
    else:
        assert parser(case.text)


def test_a_case_gives_the_mount_of_every_path(case: Any) -> None:
    mounts = parse_mountinfo(case.text)
    found = {path: find_mount(mounts, path)["mount_id"] for path in case.right["holders"]}
    assert found == case.right["holders"]


test_a_case_gives_the_mount_of_every_path.needs = "holders"  # type: ignore[attr-defined] # read by pytest_generate_tests


def test_bytes_that_are_no_utf8_survive() -> None:
    line = b"50 25 8:1 / /mnt/\xff\xfe\\040x rw - ext4 /dev/\xe9 rw\n".decode("utf-8", "surrogateescape")
    mount = parse_mountinfo(ROOT + line)[1]
    assert mount["mount_point"].encode("utf-8", "surrogateescape") == b"/mnt/\xff\xfe x"
    assert mount["source"].encode("utf-8", "surrogateescape") == b"/dev/\xe9"
    assert find_mount(parse_mountinfo(ROOT + line), mount["mount_point"] + "/file") == mount


def test_escaped_bytes_join_to_a_sign() -> None:
    assert unescape(r"/\355\225\234/x") == "/한/x"
    assert unescape(r"\377").encode("utf-8", "surrogateescape") == b"\xff"
    assert unescape(r"\08\9\777\400\\") == r"\08\9\777\400\\"


def test_line_ends_of_another_system_are_no_option() -> None:
    assert parse_mountinfo(ROOT.replace("\n", "\r\n"))[0]["super_options"] == ["rw"]


def test_signs_that_look_like_line_ends_stay_in_a_path() -> None:
    place = "/mnt/a\rb\x0bc\x0cd\x85e\u2028f"
    mounts = parse_mountinfo(ROOT + f"50 25 8:1 / {place} rw - ext4 /dev/sda1 rw\n")
    assert [mount["mount_point"] for mount in mounts] == ["/", place]


def test_a_path_that_is_not_absolute_has_no_mount() -> None:
    with pytest.raises(ParseError):
        find_mount(parse_mountinfo(ROOT), "etc/hosts")


def test_a_path_above_every_listed_mount_has_none() -> None:
    mounts = parse_mountinfo("40 30 0:44 / /mnt/share rw - cifs //s/share rw\n")
    assert find_mount(mounts, "/mnt/share/x")["mount_id"] == 40
    with pytest.raises(ParseError):
        find_mount(mounts, "/mnt/other")


def test_mounts_that_are_each_others_parents_end_the_walk() -> None:
    mounts = parse_mountinfo("1 2 0:1 / / rw - a a rw\n2 1 0:2 / / rw - b b rw\n3 3 0:3 / / rw - c c rw\n")
    assert find_mount(mounts, "/x")["mount_id"] in (1, 2, 3)


@pytest.mark.parametrize(
    ("options", "right"),
    [
        ("rw,vers=4.1,rsize=131072,wsize=131072,hard,proto=tcp,timeo=600,retrans=2", ("4.1", 131072, "tcp", True, 1)),
        ("rw,vers=3,rsize=32768,wsize=32768,soft,proto=udp,nconnect=16", ("3", 32768, "udp", False, 16)),
        ("rw,softerr,nfsvers=4.2,proto=rdma6,rsize=x", ("4.2", None, "rdma6", False, 1)),
        ("vers=4,minorversion=1,tcp", ("4.1", None, "tcp", True, 1)),
        ("v3,udp,rsize=1,rsize=2", ("3", 2, "udp", True, 1)),
        ("", (None, None, None, True, 1)),
    ],
)
def test_nfs_options_are_read(options: str, right: tuple[Any, ...]) -> None:
    read = parse_nfs_options(options.split(","))
    assert (read["version"], read["rsize"], read["proto"], read["hard"], read["nconnect"]) == right
    assert not read["truncated"]


def test_an_options_value_is_its_last_one() -> None:
    options = ["ro", "rsize=1", "rsize=2=3", "bg"]
    assert option_value(options, "rsize") == "2=3"
    assert option_value(options, "bg") == ""
    assert option_value(options, "size") is None


@pytest.mark.parametrize(
    ("name", "version", "truncated"),
    [
        ("mount_nfs4_synology_vers41.txt", "4.1", False),
        ("mount_nfs4_truncated_options.txt", "4.2", True),
        ("nfsstat_m_single_line.txt", "4.2", False),
    ],
)
def test_a_real_line_of_mount_or_nfsstat_is_read(
    name: str, version: str, truncated: bool, sample: Callable[[str], str]
) -> None:
    (entry,) = parse_mount_listing(sample(name))
    assert entry["mount_point"] in ("/nas/data", "/mnt", "/mnt/shared")
    assert ":/" in entry["source"]
    assert parse_nfs_options(entry["options"]) == {
        "version": version,
        "rsize": 131072,
        "wsize": 131072,
        "proto": "tcp",
        "hard": True,
        "nconnect": 1,
        "timeo": 600,
        "retrans": 2,
        "truncated": truncated,
    }


@pytest.mark.parametrize("parser", [parse_mountinfo, parse_mount_listing])
@given(
    st.one_of(
        st.text(),
        st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")),
        st.from_regex(r"([-0-9:/a\\ ,\n\"]| - | on /| type | from ){0,60}", fullmatch=True),
    )
)
@example("9" * 5000 + " 1 254:1 / / rw - ext4 /dev/vda1 rw")
@example("1 1 1:1 / / - - - - -")
@example("25 1 254:" + "9" * 5000 + r" / /\377\376 rw - ext4 \ud800 rw")
def test_any_text_is_read_or_refused(parser: Callable[[str], Any], text: str) -> None:
    try:
        parser(text)
    except ParseError:
        return


@given(st.text())
def test_any_text_can_be_unescaped_and_taken_for_options(text: str) -> None:
    assert isinstance(unescape(text), str)
    assert parse_nfs_options(text.split(","))["nconnect"] >= 0


def escaped(text: str) -> str:
    """As the kernel's mangle() does."""
    return "".join(f"\\{ord(sign):03o}" if sign in " \t\n\\#" else sign for sign in text)


PART = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda part: part not in (".", "..") and not part.endswith("\r")
)
PLACE = st.lists(PART, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))
WORD = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(
    mount_id=st.integers(0, 2**31),
    parent_id=st.integers(0, 2**31),
    device=st.tuples(st.integers(0, 4095), st.integers(0, 2**20)),
    root=PLACE,
    mount_point=PLACE,
    optional=st.lists(st.sampled_from(["shared:1", "master:22", "propagate_from:3", "unbindable"]), max_size=4),
    fs_type=st.from_regex("[a-z0-9_.-]{1,12}", fullmatch=True),
    source=st.one_of(WORD, st.just("")),
    options=st.lists(WORD.filter(lambda word: not set(',"') & set(word)), min_size=1, max_size=4),
)
def test_a_written_line_reads_back(
    mount_id: int,
    parent_id: int,
    device: tuple[int, int],
    root: str,
    mount_point: str,
    optional: list[str],
    fs_type: str,
    source: str,
    options: list[str],
) -> None:
    line = " ".join(
        [
            f"{mount_id} {parent_id} {device[0]}:{device[1]} {escaped(root)} {escaped(mount_point)} rw,noatime",
            *optional,
            f"- {fs_type} {escaped(source)} {','.join(map(escaped, options))}\n",
        ]
    )
    assert parse_mountinfo(line) == [
        {
            "mount_id": mount_id,
            "parent_id": parent_id,
            "dev": f"{device[0]}:{device[1]}",
            "root": root,
            "mount_point": mount_point,
            "options": ["rw", "noatime"],
            "optional": optional,
            "fs_type": fs_type,
            "source": source,
            "super_options": options,
            "deleted": root.endswith("//deleted") or mount_point.endswith("//deleted"),
        }
    ]


PLACES = st.sampled_from(["/", "/a", "/a/b", "/a/b/c", "/ab", "/b"])


@given(
    st.lists(st.tuples(PLACES, st.integers(0, 20)), min_size=1, max_size=8), st.sampled_from(["/a/b/c/f", "/ab", "/"])
)
def test_the_walk_ends_on_a_mount_whose_point_leads_to_the_path(chosen: list[tuple[str, int]], path: str) -> None:
    lines = [f"{index} {parent} 8:1 / {place} rw - ext4 x rw" for index, (place, parent) in enumerate(chosen)]
    mounts = parse_mountinfo("\n".join(lines))
    try:
        found = find_mount(mounts, path)
    except ParseError:
        return
    place = found["mount_point"]
    assert place == "/" or path == place or path.startswith(place + "/")


def test_a_megabyte_of_one_line_is_read_or_refused() -> None:
    for line in (" " * 10**6 + "x", "\\040" * 250_000, "1 " * 500_000, " - " * 300_000, "," * 10**6, '",' * 500_000):
        for parser in (parse_mountinfo, parse_mount_listing):
            with pytest.raises(ParseError):
                parser(line)
    wide = ROOT + "26 25 0:9 / /x rw - overlay overlay rw,lowerdir=" + "/l:" * 300_000 + "\n"
    assert len(parse_mountinfo(wide)) == 2
    assert find_mount(parse_mountinfo(ROOT), "/x" * 2000)["mount_id"] == 25

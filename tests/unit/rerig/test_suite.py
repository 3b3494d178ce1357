"""Suites: the shipped ones say what the posts measured; broken ones are refused with one sentence."""

import hashlib

import pytest

from rerig.errors import UserError
from rerig.suite import MAX_BYTES, SUITES, load_suite, suite_names

MINIMAL = """\
format: rerig-suite
format_version: "1.0"
name: tiny
version: "1.0"
title: One read
scratch_bytes: 1048576
cases:
  - name: dd-1m
    kind: dd_read
    direct: true
    block_bytes: 1048576
    read_bytes: {default: 1048576}
    repeats: 3
"""


@pytest.fixture
def suite_file(tmp_path):
    def write(content):
        path = tmp_path / "suite.yml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def refusal(path):
    with pytest.raises(UserError) as caught:
        load_suite(path)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 700
    return message


def test_the_suites_that_come_with_rerig_are_valid_and_named_after_their_files():
    assert suite_names() == ["power-budget", "queue-depth", "storage"]
    assert [load_suite(name)["name"] for name in suite_names()] == suite_names()


def test_the_storage_suite_reads_as_the_posts_did():
    cases = {case["name"]: case for case in load_suite("storage")["cases"]}
    assert cases["dd-8m"]["block_bytes"] == 8 * 1024**2
    assert cases["dd-8m"]["read_bytes"] == {"network": 2 * 1024**3, "default": 4 * 1024**3}
    assert cases["dd-8m"]["repeats"] == 3
    assert cases["reread-250m"]["scratch_bytes"] == 253_815_318
    assert cases["reread-250m"]["blocks"] * cases["reread-250m"]["block_bytes"] == 251_658_240
    assert cases["reread-250m"]["repeats"] == 5
    fio = [
        (case["pattern"], case["block_bytes"], case["queue_depth"], case["runtime_limit_s"])
        for case in cases.values()
        if case["kind"] == "fio_read"
    ]
    assert fio == [
        ("random", 65536, 1, 8),
        ("random", 65536, 2, 8),
        ("random", 65536, 4, 8),
        ("random", 131072, 8, 8),
        ("sequential", 1048576, 8, 15),
    ]
    assert all(case["direct"] for case in cases.values())


def test_the_queue_depth_suite_doubles_the_depth_from_1_to_64():
    assert [case["queue_depth"] for case in load_suite("queue-depth")["cases"]] == [1, 2, 4, 8, 16, 32, 64]


def test_a_suite_carries_the_sha256_of_its_files_bytes():
    data = (SUITES / "storage.yml").read_bytes()
    assert load_suite("storage")["sha256"] == hashlib.sha256(data).hexdigest()


def test_a_path_is_read_as_it_is(suite_file):
    assert load_suite(suite_file(MINIMAL))["name"] == "tiny"


def test_an_unknown_name_lists_the_known_ones():
    assert "queue-depth, storage" in refusal("stroage")


def test_a_missing_file_is_named():
    assert "'no-such.yml' can't be read: No such file" in refusal("no-such.yml")


def test_aliases_are_refused_before_they_unfold(suite_file):
    laughs = "a: &a [x, x]\n" + "".join(
        f"{new}: &{new} [{', '.join(['*' + old] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert "aliases (*name) are not allowed at line 2" in refusal(suite_file(laughs))


@pytest.mark.parametrize("depth", [40, 20_000], ids=["past our limit", "past Python's"])
def test_deep_nesting_is_refused(suite_file, depth):
    assert "nested" in refusal(suite_file("a: " + "[" * depth + "]" * depth))


def test_a_key_that_stands_twice_is_refused(suite_file):
    assert "'name' stands twice at line 14" in refusal(suite_file(MINIMAL + "name: other\n"))


def test_a_huge_file_is_refused_by_its_size(suite_file):
    assert "too large" in refusal(suite_file("#" * (MAX_BYTES + 1)))


NO_SUITES = [
    ("- a list\n", "must be a mapping"),
    ("", "must be a mapping"),
    ("a: [1\n", "not usable YAML"),
    (MINIMAL + "---\n" + MINIMAL, "not usable YAML"),
    ("when: 2026-02-31\n", "not usable YAML"),
    ("a: !!python/object/apply:os.system [true]\n", "not usable YAML"),
    ("? [a, b]\n: c\n", "not usable YAML"),
    (b"name: \xff\xfe\n", "not UTF-8"),
    (b"name: a\x00b\n", "not usable YAML"),
    ("1: a number as a key\n", "is not text"),
    ("when: 2026-11-30\n", "(date) is not a JSON value"),
    ("a: .nan\n", "not a number"),
    ("a: !!set {x}\n", "(set) is not a JSON value"),
    ("name: tiny\n", 'its "format" is none of'),
    (MINIMAL.replace("rerig-suite", "rerig-result"), "but a rerig-suite is needed"),
    (MINIMAL.replace('"1.0"\nname', '"2.0"\nname'), "newer rerig"),
    (MINIMAL.replace('"1.0"\nname', "1.0\nname"), 'without a "format_version"'),
    (MINIMAL.replace("    repeats: 3\n", ""), "'repeats' is a required property"),
    (
        MINIMAL + "    read_ahead_kb: 4096\n",
        "direct reads bypass the page cache and with it the read-ahead: set direct to false",
    ),
    (MINIMAL.replace("direct: true", "direct: false") + "    read_ahead_kb: -1\n", "-1 is less than the minimum of 0"),
    (MINIMAL.replace("default: 1048576", "default: 1048577"), "whole number of blocks"),
    (MINIMAL.replace("name: dd-1m", "name: no"), "false is not of type 'string'"),
]


@pytest.mark.parametrize(("content", "words"), NO_SUITES, ids=[words for _, words in NO_SUITES])
def test_what_is_not_a_suite_is_refused_with_its_reason(suite_file, content, words):
    assert words in refusal(suite_file(content))


def test_a_read_through_the_page_cache_may_set_the_read_ahead(suite_file):
    content = MINIMAL.replace("direct: true", "direct: false") + "    read_ahead_kb: 0\n"
    assert load_suite(suite_file(content))["cases"][0]["read_ahead_kb"] == 0

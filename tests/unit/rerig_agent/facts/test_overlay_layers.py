from __future__ import annotations

from typing import Any

import pytest

from rerig_agent.facts.overlay_layers import layer_directories, pick_layer, relative_in_layers

FILE = {"kind": "file", "size_bytes": 5, "modified_ns": 7}
OTHER = {"kind": "file", "size_bytes": 6, "modified_ns": 7}
FOLDER = {"kind": "directory", "size_bytes": 5, "modified_ns": 7}
WHITEOUT = {"kind": "char_device", "size_bytes": 0, "modified_ns": 7}


@pytest.mark.parametrize(
    ("options", "layers"),
    [
        (["rw", "lowerdir=/b:/c", "upperdir=/a", "workdir=/w"], ["/a", "/b", "/c"]),
        (["ro", "lowerdir=/b:/c"], ["/b", "/c"]),
        ([r"lowerdir=/b\:x:/c\\:/d"], ["/b:x", "/c\\", "/d"]),
        (["lowerdir+=/b:x", "lowerdir+=/c", "datadir+=/d"], ["/b:x", "/c", "/d"]),
        (["lowerdir=/b::/data"], ["/b", "/data"]),
        (["rw"], []),
    ],
)
def test_layers_come_from_top_to_bottom(options: list[str], layers: list[str]) -> None:
    assert layer_directories({"super_options": options}) == layers


@pytest.mark.parametrize(
    ("root", "point", "path", "inside"),
    [
        ("/", "/m", "/m/a/b", "a/b"),
        ("/", "/", "/a/b", "a/b"),
        ("/sub", "/m", "/m/a", "sub/a"),
        ("/", "/m", "/m", "."),
        ("/sub", "/m", "/m", "sub"),
    ],
)
def test_a_bind_mount_of_a_part_keeps_that_part_in_the_layers(root: str, point: str, path: str, inside: str) -> None:
    assert relative_in_layers({"root": root, "mount_point": point}, path) == inside


@pytest.mark.parametrize(
    ("facts", "seen", "index"),
    [
        (FILE, [FILE, FILE], 0),
        (FILE, [None, FILE], 1),
        (FILE, [OTHER, FILE], None),  # metacopy, or another name space
        (FILE, [WHITEOUT, FILE], None),
        (FILE, [FOLDER, FILE], None),
        (FILE, [None, None], None),
        (FILE, [], None),
        (FOLDER, [None, dict(FOLDER, modified_ns=1)], 1),
    ],
)
def test_the_topmost_entry_counts_if_it_is_the_same_file(
    facts: dict[str, Any], seen: list[dict[str, Any] | None], index: int | None
) -> None:
    assert pick_layer(facts, seen) == index

"""What must be true of a run that was disturbed, and of its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kill_scene import KillScene, Point
from same_document import assert_same, sessions, timeless, unfinished, without_doubts

Document = dict[str, Any]


def assert_undisturbed(scene: KillScene, undisturbed: Document) -> None:
    """The result is that of a run that nobody disturbed, in one session, and nothing else is left anywhere."""
    assert_resumed(scene, undisturbed, [], stops=())


def assert_resumed(
    scene: KillScene,
    undisturbed: Document,
    within: Sequence[str | None],
    stops: Sequence[str] = ("killed",),
    doubts: Sequence[str] = (),
) -> None:
    """The same of a run that was resumed as often as it was stopped, each time by one of ``stops``.

    ``within``: the cases that were begun then. ``doubts``: words about what changed meanwhile.
    """
    document, found = without_doubts(scene.document(), "state_changed")
    assert_same(document, undisturbed)
    assert sessions(document) == [*stops, None], document["run"]["sessions"]
    assert unfinished(document) == set(within) - {None}, document["raw"]
    assert found == list(doubts), found
    scene.assert_only_the_run_is_left()


def assert_partial(scene: KillScene, undisturbed: Document, point: Point, stopped_by: str = "killed") -> None:
    """What was brought home of a run that was cut off: a valid document with every done case as it will stay."""
    document = scene.document()
    assert not document["run"]["complete"]
    assert sessions(document) == [stopped_by], document["run"]["sessions"]
    whole, there = timeless(undisturbed)["cases"], timeless(document)["cases"]
    assert there[: point.done] == whole[: point.done], there
    for case in there[point.done :]:
        begun = case["id"] == point.within
        assert case["status"] == ("measured" if begun else "not_run"), case
        assert len(case["repeats"]) == begun, case

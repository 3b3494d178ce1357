"""What a JSON Schema can't say: that the parts of one document agree with each other.

Pure. Every function takes a document that its schema has passed and yields (path, reason).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

Path = tuple[str | int, ...]
Contradiction = tuple[Path, str]
Document = dict[str, Any]

# dd's bandwidth is bytes over seconds by definition; 0.1 % leaves room for a rounded figure only.
RATE_TOLERANCE = 0.001


def contradictions(document: Document) -> Iterator[Contradiction]:
    """Every contradiction inside a document that its schema has passed."""
    checks: dict[str, Callable[[Document], Iterator[Contradiction]]] = {
        "rerig-result": _in_result,
        "rerig-published": _in_published,
        "rerig-suite": _in_suite,
    }
    yield from checks[document["format"]](document)


def _repeated(items: Iterable[Document], key: str, path: Path) -> Iterator[Contradiction]:
    seen = set()
    for index, item in enumerate(items):
        if item[key] in seen:
            yield (*path, index, key), f"{item[key]!r} stands twice"
        seen.add(item[key])


def _in_result(result: Document) -> Iterator[Contradiction]:
    yield from _repeated(result["targets"], "id", ("targets",))
    yield from _repeated(result["cases"], "id", ("cases",))
    yield from _repeated(result["raw"]["files"], "name", ("raw", "files"))
    targets = {target["id"]: target for target in result["targets"]}
    for index, case in enumerate(result["cases"]):
        yield from _in_case(case, targets.get(case["target"]), ("cases", index))


def _in_case(case: Document, target: Document | None, path: Path) -> Iterator[Contradiction]:
    if target is None:
        yield (*path, "target"), f"there is no target {case['target']!r}"
        return
    if not case["id"].endswith("." + case["target"]):
        yield (*path, "id"), f"{case['id']!r} does not end with its target's id {case['target']!r}"
    if "refusal" in target:
        if case["repeats"]:
            yield (*path, "repeats"), f"the target {case['target']!r} was refused, but it was measured"
    elif case["identity"]["medium"] != target["medium"]:
        reason = f"{case['identity']['medium']!r} is not the medium of its target ({target['medium']!r})"
        yield (*path, "identity", "medium"), reason
    yield from _in_repeats(case, path)


def _in_repeats(case: Document, path: Path) -> Iterator[Contradiction]:
    last = 0
    for index, repeat in enumerate(case["repeats"]):
        here = (*path, "repeats", index)
        if repeat["number"] <= last:
            yield (*here, "number"), f"{repeat['number']} does not follow {last}"
        last = repeat["number"]
        rate, by_fio = repeat["bandwidth_bytes_per_s"], case["identity"]["kind"] == "fio_read"
        if repeat["fio"] is not None and not by_fio:
            yield (*here, "fio"), "dd has no fio block"
        if repeat["fio"] is None and by_fio and rate is not None:
            yield (*here, "fio"), "a rate by fio needs the fio block"
        if rate is None or by_fio:
            continue
        if not repeat["duration_s"]:
            yield (*here, "bandwidth_bytes_per_s"), "a rate needs seconds above zero"
            continue
        quotient = repeat["bytes"] / repeat["duration_s"]
        if abs(rate - quotient) > RATE_TOLERANCE * quotient:
            yield (*here, "bandwidth_bytes_per_s"), f"{rate} is not bytes over duration_s ({quotient:.6g})"


def _in_published(published: Document) -> Iterator[Contradiction]:
    yield from _repeated(published["environments"], "id", ("environments",))
    yield from _repeated(published["claims"], "id", ("claims",))
    environments = {environment["id"] for environment in published["environments"]}
    for index, claim in enumerate(published["claims"]):
        path = ("claims", index)
        if claim["environment"] not in environments:
            yield (*path, "environment"), f"there is no environment {claim['environment']!r}"
        yield from _in_figure(claim["figure"], claim["last_digit"], (*path, "figure"))


def _in_figure(figure: Document, last_digit: float, path: Path) -> Iterator[Contradiction]:
    printed: list[tuple[Path, float]] = [((key,), figure[key]) for key in ("mean", "low", "high") if key in figure]
    printed += [(("values", index), value) for index, value in enumerate(figure.get("values", []))]
    for place, value in printed:
        steps = value / last_digit
        if abs(steps - round(steps)) > 1e-6 * max(1.0, steps):
            yield (*path, *place), f"{value} can't be printed in steps of {last_digit} (last_digit)"
    if "low" in figure and figure["low"] > figure["high"]:
        yield (*path, "low"), f"{figure['low']} is above high ({figure['high']})"


def _in_suite(suite: Document) -> Iterator[Contradiction]:
    yield from _repeated(suite["cases"], "name", ("cases",))
    for index, case in enumerate(suite["cases"]):
        for medium, size in case.get("read_bytes", {}).items():
            if size % case["block_bytes"]:
                reason = f"{size} is not a whole number of blocks of {case['block_bytes']} bytes"
                yield ("cases", index, "read_bytes", medium), reason

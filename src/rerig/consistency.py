"""What a JSON Schema can't say: that the parts of one document agree with each other.

Pure. Every function takes a document that its schema has passed and yields (path, reason).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rerig.doubts import CACHE_RATIO, EXTRA_RATIO
from rerig.instants import read_instant, seconds_between
from rerig.power_readings import AT_MAX_SHARE, LOADED_SHARE
from rerig.proof import PAGE_SLACK_BYTES
from rerig_agent.judge.conditions_summary import public_kernel_release
from rerig_agent.judge.public_board import public_cause
from rerig_agent.plan_format import MACHINE, POWER_BUDGET

Path = tuple[str | int, ...]
Contradiction = tuple[Path, str]
Document = dict[str, Any]

# A bandwidth is bytes over seconds by definition; 0.1 % leaves room for a rounded figure only.
RATE_TOLERANCE = 0.001
# A gap is kept to a millisecond.
GAP_TOLERANCE_S = 0.0011
# A ratio is kept to six decimals.
RATIO_TOLERANCE = 1e-6
# The issue that each verdict of the proof brings along.
PROOF_CODES = {
    "served_from_cache": "served_from_cache",
    "extra_traffic": "extra_traffic",
    "not_decidable": "bytes_not_provable",
}


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
    yield from _in_run(result)
    targets = {target["id"]: target for target in result["targets"]}
    for index, case in enumerate(result["cases"]):
        yield from _in_case(case, targets.get(case["target"]), ("cases", index))


def _in_run(result: Document) -> Iterator[Contradiction]:
    yield from _in_sessions(result["run"])
    for when in ("before", "after"):
        release = (result["machine"][when] or {}).get("kernel_release")
        if release is not None and public_kernel_release(release) != release:
            reason = f"{release!r} has a word that is no distribution's, board's or cloud's: it may be a name"
            yield ("machine", when, "kernel_release"), reason
        board = (result["machine"][when] or {}).get("board_state")
        if board is not None and public_cause(board["code"], board["cause"]) != board["cause"]:
            yield ("machine", when, "board_state", "cause"), "it has a word that the judge never says: it may be a name"
    if result["validity"]["verdict"] == "valid":
        for case in result["cases"]:
            verdict = case["validity"]["verdict"]
            if verdict in ("doubtful", "invalid"):
                yield ("validity", "verdict"), f"a run with a case that is {verdict} ({case['id']}) is not valid"


def _in_sessions(run: Document) -> Iterator[Contradiction]:
    """The run starts with its first session and ends with its last; a clock may have been set in between only."""
    sessions, path = run["sessions"], ("run", "sessions")
    ends = {"started_at": (0, "started_at"), "finished_at": (-1, "ended_at"), "stopped_by": (-1, "stopped_by")}
    for key, (place, theirs) in ends.items():
        if run[key] != sessions[place][theirs]:
            which = "first" if place == 0 else "last"
            yield ("run", key), f"{run[key]!r} is not {theirs} of the {which} session ({sessions[place][theirs]!r})"
    if sessions[0]["gap_before_s"] is not None:
        yield (*path, 0, "gap_before_s"), "nothing comes before the first session"
    for index, session in enumerate(sessions):
        if session["number"] != index + 1:
            yield (*path, index, "number"), f"{session['number']} does not follow {index}"
        lasted_s = seconds_between(read_instant(session["started_at"]), read_instant(session["ended_at"]))
        if lasted_s is not None and lasted_s < 0:
            yield (*path, index, "ended_at"), f"{session['ended_at']!r} is before started_at"
        if session["stopped_by"] == "killed" and session["ended_at"] is not None:
            yield (*path, index, "ended_at"), "a session that was killed has no end of its own"
    for index, (first, second) in enumerate(itertools.pairwise(sessions), start=1):
        gap_s = seconds_between(read_instant(first["ended_at"]), read_instant(second["started_at"]))
        if None not in (gap_s, second["gap_before_s"]) and abs(gap_s - second["gap_before_s"]) > GAP_TOLERANCE_S:
            yield (*path, index, "gap_before_s"), f"{second['gap_before_s']} is not the time in between ({gap_s})"


def _in_case(case: Document, target: Document | None, path: Path) -> Iterator[Contradiction]:
    if target is None:
        yield (*path, "target"), f"there is no target {case['target']!r}"
        return
    if not case["id"].endswith("." + case["target"]):
        yield (*path, "id"), f"{case['id']!r} does not end with its target's id {case['target']!r}"
    if "refusal" in target:
        if case["repeats"]:
            yield (*path, "repeats"), f"the target {case['target']!r} was refused, but it was measured"
    elif (case["identity"]["kind"] == POWER_BUDGET) != (target["origin"] == MACHINE):
        yield (*path, "target"), f"a case of this kind has no target such as {case['target']!r}"
        return
    elif target["origin"] != MACHINE and case["identity"]["medium"] != target["medium"]:
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
        if case["identity"]["kind"] == POWER_BUDGET:
            yield from _in_power(repeat, here)
            continue
        yield from _in_rate(repeat, here)
        yield from _in_proof(repeat, (*here, "proof"))
        yield from _in_tool(case, repeat, here)
    yield from _unnamed_doubts(case, path)
    seeded = (repeat for repeat in case["repeats"] if repeat.get("seed") is not None)
    yield from _repeated(seeded, "seed", (*path, "repeats"))


def _in_power(repeat: Document, path: Path) -> Iterator[Contradiction]:
    """Loaded cores are online, and partial means just what the figures of the loads say."""
    online, loaded = repeat["cores_online"], repeat["cores_loaded"]
    if loaded is not None and (online is None or loaded > online):
        yield (*path, "cores_loaded"), f"{loaded} of {online} processors can't have been loaded"
    whole = bool(online) and loaded == online and repeat["gpu_loaded"] is True
    if repeat["partial"] == whole:
        yield (*path, "partial"), f"{repeat['partial']} does not follow from the processors' load and the GPU's"
    mean = repeat["gpu_load_mean"]
    if mean is not None and repeat["gpu_loaded"] != (mean >= LOADED_SHARE):
        yield (*path, "gpu_loaded"), f"{repeat['gpu_loaded']} does not follow from a mean load of {mean}"
    # Not of processors: those of several kinds have several maxima, of which max_hz is the highest.
    clock = repeat["gpu_clock"]
    if clock is not None and (clock["share_at_max"] == 1) != (clock["lowest_hz"] >= AT_MAX_SHARE * clock["max_hz"]):
        reason = f"{clock['share_at_max']} does not follow from {clock['lowest_hz']} of {clock['max_hz']} at the lowest"
        yield (*path, "gpu_clock", "share_at_max"), reason


def _in_tool(case: Document, repeat: Document, path: Path) -> Iterator[Contradiction]:
    """What only fio has: its own block and a seed."""
    by_fio = case["identity"]["kind"] == "fio_read"
    if repeat["fio"] is not None and not by_fio:
        yield (*path, "fio"), "dd has no fio block"
    if repeat["fio"] is None and by_fio and repeat["bandwidth_bytes_per_s"] is not None:
        yield (*path, "fio"), "a rate by fio needs the fio block"
    if repeat["seed"] is not None and not by_fio:
        yield (*path, "seed"), "dd takes no seed"
    if repeat["seed"] is None and by_fio:
        yield (*path, "seed"), "a repeat by fio needs its seed"


def _in_rate(repeat: Document, path: Path) -> Iterator[Contradiction]:
    rate = repeat["bandwidth_bytes_per_s"]
    if rate is None:
        return
    if repeat["exit_status"] != 0:
        ended = "without a status" if repeat["exit_status"] is None else f"with status {repeat['exit_status']}"
        yield (*path, "exit_status"), f"a tool that ended {ended} has no rate"
    if not repeat["duration_s"]:
        yield (*path, "bandwidth_bytes_per_s"), "a rate needs seconds above zero"
        return
    quotient = repeat["bytes"] / repeat["duration_s"]
    if abs(rate - quotient) > RATE_TOLERANCE * quotient:
        yield (*path, "bandwidth_bytes_per_s"), f"{rate} is not bytes over duration_s ({quotient:.6g})"


def _in_proof(repeat: Document, path: Path) -> Iterator[Contradiction]:
    """The ratio is delivered over read bytes, and the verdict is what rerig.proof makes of both."""
    verdict, ratio, delivered = (repeat["proof"][key] for key in ("verdict", "ratio", "delivered_bytes"))
    read = repeat["bytes"]
    if ratio is not None and (delivered is None or not read):
        yield (*path, "ratio"), "a ratio needs delivered_bytes, and bytes above zero"
        return
    if ratio is None:  # the schema has left "not_decidable" only
        return
    quotient = delivered / read
    if abs(ratio - quotient) > RATIO_TOLERANCE * max(1.0, quotient):
        yield (*path, "ratio"), f"{ratio} is not delivered_bytes over bytes ({quotient:.6f})"
    within = abs(delivered - read) <= PAGE_SLACK_BYTES or CACHE_RATIO <= quotient <= EXTRA_RATIO
    proved = "delivered" if within else "served_from_cache" if quotient < CACHE_RATIO else "extra_traffic"
    if verdict != proved:
        yield (*path, "verdict"), f"{delivered} bytes delivered of {read} read are {proved!r}, not {verdict!r}"


def _unnamed_doubts(case: Document, path: Path) -> Iterator[Contradiction]:
    """Doubts that follow from a repeat's own figures must stand among the case's issues."""
    named = {(issue["code"], issue["repeat"]) for issue in case["validity"]["issues"]}
    for repeat in case["repeats"]:
        for code in _expected_codes(case, repeat):
            if not {(code, repeat["number"]), (code, None)} & named:
                yield (*path, "validity", "issues"), f"repeat {repeat['number']} needs an issue {code!r}"


def _expected_codes(case: Document, repeat: Document) -> Iterator[str]:
    if case["identity"]["kind"] == POWER_BUDGET:
        if repeat["partial"]:
            yield "partial"
        if repeat["missing"]:
            yield "sensors_missing"
        return
    if repeat["bytes"] is None:  # no figure, nothing to prove
        return
    code = PROOF_CODES.get(repeat["proof"]["verdict"])
    if code is not None:
        yield code
    if case["identity"]["kind"] != "fio_read" and repeat["bytes"] < repeat["asked_bytes"]:
        yield "short_read"
    if case["identity"].get("read_ahead_kb", repeat["read_ahead_kb"]) != repeat["read_ahead_kb"]:
        yield "read_ahead_off"


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
        if "read_ahead_kb" in case and case["direct"]:
            reason = "direct reads bypass the page cache and with it the read-ahead: set direct to false"
            yield ("cases", index, "read_ahead_kb"), reason
        for medium, size in case.get("read_bytes", {}).items():
            if size % case["block_bytes"]:
                reason = f"{size} is not a whole number of blocks of {case['block_bytes']} bytes"
                yield ("cases", index, "read_bytes", medium), reason

"""The result document from a raw run. Pure and deterministic: the same raw files give the same document, any day."""

from __future__ import annotations

import statistics
from typing import Any

from rerig import VERSION, doubts
from rerig.build_power import build_power_repeat, gives_a_figure
from rerig.build_repeat import build_repeat
from rerig.doubts import issue, judge
from rerig.judged import OTHER_MEDIUM, JudgedRun, reason_of
from rerig.machine import Look, machine_issues
from rerig.rundir import RawRun
from rerig.schema import fits
from rerig.session_doubts import SeenTarget, agent_issues, target_issues, tool_version
from rerig.sessions import RawSession, describe_sessions, last_reason
from rerig_agent.conditions import summarize
from rerig_agent.plan_format import MACHINE, POWER_BUDGET

FORMAT = "rerig-result"
FORMAT_VERSION = "1.0"


def build_result(run: RawRun) -> dict[str, Any]:
    """The result-1.0 document of ``run``; whatever was not measured is there with its reason.

    Whatever the journal says, the document is a valid one: what can't be read from it is null or "unknown".
    """
    plan = run.plan
    judged = JudgedRun(run)
    sessions = describe_sessions(run.sessions)
    finished_at, stopped_by = sessions[-1]["ended_at"], sessions[-1]["stopped_by"]
    cases = [_build_case(judged, case) for case in plan["cases"]]
    ended = stopped_by is None and finished_at is not None
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "run": {
            "id": plan["run_id"],
            "started_at": sessions[0]["started_at"],
            "finished_at": finished_at,
            "complete": ended and all(case["status"] != "not_run" for case in cases),
            "stopped_by": stopped_by,
            "sessions": sessions,
        },
        "suite": plan["suite"],
        "agent": plan["agent"],
        "builder": {"version": VERSION},
        "labels": plan["labels"],
        "machine": {
            "before": _summary(_first_look(run.sessions)),
            "after": _summary(run.sessions[-1].conditions_after),
            "tools": _tools(judged.measuring_sessions()[-1]),
        },
        "targets": [_build_target(judged, target) for target in plan["targets"]],
        "cases": cases,
        "validity": _run_validity(judged, cases, sessions),
        "raw": {"files": [{"name": file.name, "sha256": file.sha256} for file in run.files]},
    }


def _first_look(sessions: list[RawSession]) -> dict[str, Any] | None:
    """The machine before the first session that was not cut off before it looked."""
    return next((one.conditions_before for one in sessions if one.conditions_before is not None), None)


def _summary(conditions: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if conditions is None else summarize(conditions)


def _tools(session: RawSession) -> dict[str, Any]:
    versions = {tool: tool_version(session, tool) for tool in ("dd", "fio")}
    before = _summary(session.conditions_before)
    return {
        **{
            tool: version if fits(version, f"result-1.0.schema.json#/$defs/{tool}_version_or_null") else "unknown"
            for tool, version in versions.items()
        },
        "python": None if before is None else before["python"],
    }


def _build_target(judged: JudgedRun, target: dict[str, Any]) -> dict[str, Any]:
    block = {"id": target["id"], "label": target["label"], "origin": target["origin"]}
    seen = judged.of_target(target["id"])
    if not isinstance(seen, SeenTarget):
        return {**block, "refusal": seen}
    if target["origin"] == MACHINE:
        return block
    evidence, classified = seen.evidence, seen.classified
    proof = classified["proof"]
    return {
        **block,
        "size_bytes": evidence["size_bytes"],
        "storage_class": classified["storage_class"],
        "medium": classified["medium"],
        "file_system": classified["file_system"],
        "devices": classified["devices"],
        "link": classified["link"],
        "unseen_caches": classified["unseen_caches"],
        "proof": {"source": proof["source"], "reason": proof["reason"]},
        "read_ahead_kb": evidence["read_ahead_kb"],
    }


def _build_case(judged: JudgedRun, case: dict[str, Any]) -> dict[str, Any]:
    repeats, issues = [], []
    seen = judged.of_case(case)
    loads = case["identity"]["kind"] == POWER_BUDGET
    if seen is not None:
        interface = (seen.evidence.get("network") or {}).get("interface")
        for raw in judged.run.repeats[case["id"]]:
            reads = (seen.classified, interface)
            block, found = build_power_repeat(case, raw) if loads else build_repeat(case, raw, *reads)
            repeats.append(block)
            issues += found
    good = [repeat for repeat in repeats if (gives_a_figure(repeat) if loads else _has_rate(repeat))]
    status, reason = _status(judged, case, good, issues)
    issues += _missing_repeats(case, repeats)
    issues += [] if loads else _spread_issues(good)
    return {
        "id": case["id"],
        "target": case["target"],
        "identity": case["identity"],
        "extent": _extent(case, good),
        "status": status,
        "reason": reason,
        "repeats": repeats,
        "validity": judge(issues if repeats else [], measured=bool(repeats)),
    }


def _has_rate(repeat: dict[str, Any]) -> bool:
    return repeat["bandwidth_bytes_per_s"] is not None


def _status(
    judged: JudgedRun, case: dict[str, Any], good: list[dict[str, Any]], issues: list[dict[str, Any]]
) -> tuple[str, dict[str, str] | None]:
    if good:
        return "measured", None
    fault = next((found for found in issues if doubts.KINDS[found["code"]].fault), None)
    last = last_reason(judged.run.sessions, case["id"])
    # A case that left repeats was not skipped, whatever came after them.
    if last is not None and (last[1]["event"] == "case-failed" or fault is None):
        session, event = last
        status = "skipped" if event["event"] == "case-skipped" else "failed"
        return status, reason_of(session, case["target"], event)
    if fault is not None:
        return "failed", {"code": fault["code"], "sentence": f"No repeat gave a figure: {fault['what']}."}
    if judged.run.repeats[case["id"]] and judged.moved(case):
        return "failed", OTHER_MEDIUM
    return "not_run", {"code": "not_run", "sentence": "The run stopped before this case."}


def _missing_repeats(case: dict[str, Any], repeats: list[dict[str, Any]]) -> list[dict[str, Any]]:
    missing = len(case["repeats"]) - len(repeats)
    if not repeats or not missing:
        return []
    return [issue("not_run", f"{missing} of the repeats were not run", len(case["repeats"]), len(repeats))]


def _spread_issues(good: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of rates. The highest power or heat of one long load needs no spread to be what it is."""
    issues = []
    if good and len(good) < doubts.FEWEST_REPEATS:
        issues.append(issue("few_repeats", "too few repeats for a spread", doubts.FEWEST_REPEATS, len(good)))
    if len(good) >= 2:
        rates = [repeat["bandwidth_bytes_per_s"] for repeat in good]
        mean = statistics.fmean(rates)
        spread = statistics.stdev(rates) / mean if mean else 0.0
        if spread >= doubts.SPREAD_LIMIT:
            what = f"the standard deviation is {spread:.0%} of the mean"
            issues.append(issue("spread_high", what, doubts.SPREAD_LIMIT, round(spread, 4)))
    return issues


def _extent(case: dict[str, Any], good: list[dict[str, Any]]) -> str:
    """A fio pass that ran out of time in any repeat is ``time_limited``."""
    if case["extent"] == "one_pass" and any(repeat["bytes"] < repeat["asked_bytes"] for repeat in good):
        return "time_limited"
    return str(case["extent"])


def _run_validity(judged: JudgedRun, cases: list[dict[str, Any]], sessions: list[dict[str, Any]]) -> dict[str, Any]:
    measuring = judged.measuring_sessions()
    issues = machine_issues(_looks(measuring, sessions), len(sessions)) + agent_issues(measuring)
    for target in judged.run.plan["targets"]:
        issues += target_issues(target, judged.that_measured(target["id"]))
    stopped_by = sessions[-1]["stopped_by"]
    if stopped_by is not None:
        issues.append(issue("stopped_early", "the run was stopped before its end", None, stopped_by))
    measured = any(case["status"] == "measured" for case in cases)
    block = judge(issues, measured)
    verdicts = [case["validity"]["verdict"] for case in cases if case["status"] in ("measured", "failed")]
    # A run is no better than its cases, whose own issues say why; it is invalid where not one of them is better.
    if verdicts and all(verdict == "invalid" for verdict in verdicts):
        block["verdict"] = "invalid"
    elif block["verdict"] == "valid" and any(verdict != "valid" for verdict in verdicts):
        block["verdict"] = "doubtful"
    return block


def _looks(measuring: list[RawSession], sessions: list[dict[str, Any]]) -> list[Look]:
    """The machine before and after each session that measured; the journal knows the boot too."""
    gaps = {block["number"]: block["gap_before_s"] for block in sessions}
    looks = []
    for session in measuring:
        before, after, boot = session.conditions_before, session.conditions_after, session.start.get("boot_id")
        known = {"boot_id": boot} if isinstance(boot, str) else {}
        if before is not None:
            looks.append(Look(session.number, "before", {**known, **before}, summarize(before), gaps[session.number]))
        if after is not None:
            looks.append(Look(session.number, "after", {**known, **after}, summarize(after)))
    return looks

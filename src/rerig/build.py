"""The result document from a raw run. Pure and deterministic: the same raw files give the same document, any day."""

from __future__ import annotations

import statistics
from typing import Any

from rerig import VERSION, doubts
from rerig.build_repeat import build_repeat
from rerig.doubts import issue, judge
from rerig.machine import machine_issues
from rerig.rundir import RawRun
from rerig_agent.conditions import summarize
from rerig_agent.judge.classify import classify
from rerig_agent.judge.known_evidence import shown_name

FORMAT = "rerig-result"
FORMAT_VERSION = "1.0"


def build_result(run: RawRun) -> dict[str, Any]:
    """The result-1.0 document of ``run``; whatever was not measured is there with its reason."""
    plan = run.plan
    start = _last_event(run, "run-start") or {}
    end = _last_event(run, "run-end")
    before = None if run.conditions_before is None else summarize(run.conditions_before)
    after = None if run.conditions_after is None else summarize(run.conditions_after)
    stopped_by = "error" if end is None else end["stopped_by"]
    classified = {target["id"]: _classified(run, target["id"]) for target in plan["targets"]}
    cases = [_build_case(run, case, classified[case["target"]]) for case in plan["cases"]]
    complete = stopped_by is None and all(case["status"] != "not_run" for case in cases)
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "run": {
            "id": plan["run_id"],
            "started_at": start.get("at"),
            "finished_at": None if end is None else end["at"],
            "complete": complete,
            "stopped_by": stopped_by,
        },
        "suite": plan["suite"],
        "agent": plan["agent"],
        "builder": {"version": VERSION},
        "labels": plan["labels"],
        "machine": {"before": before, "after": after, "tools": _tools(start, before)},
        "targets": [_build_target(run, target, classified[target["id"]]) for target in plan["targets"]],
        "cases": cases,
        "validity": _run_validity(run, cases, before, after, stopped_by),
        "raw": {"files": [{"name": file.name, "sha256": file.sha256} for file in run.files]},
    }


def _last_event(run: RawRun, name: str) -> dict[str, Any] | None:
    return next((event for event in reversed(run.events) if event["event"] == name), None)


def _tools(start: dict[str, Any], before: dict[str, Any] | None) -> dict[str, Any]:
    tools = start.get("tools") or {}
    return {
        "dd": (tools.get("dd") or {}).get("version"),
        "fio": (tools.get("fio") or {}).get("version"),
        "python": None if before is None else before.get("python"),
    }


def _classified(run: RawRun, target_id: str) -> dict[str, Any] | None:
    evidence = run.targets.get(target_id)
    return None if evidence is None else classify(evidence)


def _refusal(run: RawRun, target_id: str) -> dict[str, str] | None:
    """Why the target was not measured at all; one that stopped answering later was measured until then."""
    for event in run.events:
        if event["event"] == "target-refused" and event["target"] == target_id and event["code"] != "hung_later":
            return _reason(run, target_id, event)
    return None


def _reason(run: RawRun, target_id: str, event: dict[str, Any]) -> dict[str, str]:
    """Code and sentence of an event, without the file's name: a name may look like an address or a path."""
    sentence = event["sentence"]
    path = (run.targets.get(target_id) or {}).get("path")
    if path is not None:
        sentence = sentence.replace(shown_name(path), "The file", 1)
    return {"code": event["code"], "sentence": sentence}


def _build_target(run: RawRun, target: dict[str, Any], classified: dict[str, Any] | None) -> dict[str, Any]:
    block = {"id": target["id"], "label": target["label"], "origin": target["origin"]}
    refusal = _refusal(run, target["id"])
    if refusal is not None:
        return {**block, "refusal": refusal}
    if classified is None:
        return {
            **block,
            "refusal": {"code": "not_reached", "sentence": "The run stopped before it looked at this file."},
        }
    evidence = run.targets[target["id"]]
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


def _build_case(run: RawRun, case: dict[str, Any], classified: dict[str, Any] | None) -> dict[str, Any]:
    raw_repeats = run.repeats[case["id"]]
    repeats, issues = [], []
    interface = ((run.targets.get(case["target"]) or {}).get("network") or {}).get("interface")
    if classified is not None:
        for raw in raw_repeats:
            block, found = build_repeat(case, raw, classified, interface)
            repeats.append(block)
            issues += found
    good = [repeat for repeat in repeats if repeat["bandwidth_bytes_per_s"] is not None]
    status, reason = _status(run, case, good, issues)
    issues += _case_issues(case, repeats, good)
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


def _status(
    run: RawRun, case: dict[str, Any], good: list[dict[str, Any]], issues: list[dict[str, Any]]
) -> tuple[str, dict[str, str] | None]:
    if good:
        return "measured", None
    for event in run.events:
        if event.get("case") == case["id"] and event["event"] in ("case-skipped", "case-failed"):
            status = "skipped" if event["event"] == "case-skipped" else "failed"
            return status, _reason(run, case["target"], event)
    fault = next((found for found in issues if doubts.KINDS[found["code"]].fault), None)
    if fault is not None:
        return "failed", {"code": fault["code"], "sentence": f"No repeat gave a figure: {fault['what']}."}
    return "not_run", {"code": "not_run", "sentence": "The run stopped before this case."}


def _case_issues(
    case: dict[str, Any], repeats: list[dict[str, Any]], good: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    issues = []
    missing = len(case["repeats"]) - len(repeats)
    if repeats and missing:
        issues.append(issue("not_run", f"{missing} of the repeats were not run", len(case["repeats"]), len(repeats)))
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


def _run_validity(
    run: RawRun,
    cases: list[dict[str, Any]],
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
    stopped_by: str | None,
) -> dict[str, Any]:
    issues = machine_issues(run.conditions_before, run.conditions_after, before, after)
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

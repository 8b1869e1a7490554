"""SARIF 2.1.0 for code scanning: a rule for each broken requirement, a result for each check that found it
broken, with the frames as locations."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import sha256
from posixpath import basename
from typing import Any, Final
from urllib.parse import quote

import msgspec

from assay.lab.harness.naming import dashed
from assay.lab.harness.requirement import SITE, Level
from assay.lab.harness.run.baseline import is_expected
from assay.lab.harness.run.conclusion import Conclusion, conclude, headline
from assay.lab.harness.run.defect import NAMED, Defect, Occurrence, defects, listed, place_of
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.verdict import CheckResult, Finding

from .markdown import inline

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE: Final = "RESULTS"
MOST: Final = 5_000
"""Results of one run that code scanning shows."""
PLACES: Final = 50
"""Locations of one result; code scanning shows a hundred, and a finding may have thousands."""
COMMAND: Final = 4_000
LONGEST: Final = 1_000
"""Characters of a text from a subject, which may have sent megabytes."""


def render(run: Run) -> str:
    ordered = sorted(defects(run), key=lambda defect: (_level(run, defect) != "error", _key(defect)))
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(run, ordered[:MOST], len(ordered[MOST:]))]}
    return msgspec.json.format(msgspec.json.encode(log), indent=2).decode() + "\n"


def _key(defect: Defect) -> tuple[str, str]:
    return defect.finding.requirement, defect.check.id


def _run(run: Run, listed_defects: list[Defect], left_out: int) -> dict[str, Any]:
    first: dict[str, Defect] = {}
    for defect in listed_defects:
        first.setdefault(defect.finding.requirement, defect)
    rules = list(first)
    return {
        "tool": {
            "driver": {
                "name": "Assay",
                "version": run.assay,
                # The rules are those of the specification, which documents them.
                "informationUri": f"{SITE}/specification",
                "rules": [_rule(run, defect) for defect in first.values()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {BASE: {"description": {"text": "the directory of the stored run"}}},
        "invocations": [_invocation(run, left_out)],
        "results": [
            _result(run, defect, rules.index(defect.finding.requirement)) for defect in listed_defects
        ],
    }


def _rule(run: Run, defect: Defect) -> dict[str, Any]:
    finding = defect.finding
    statement = _short(finding.statement)
    rule: dict[str, Any] = {
        "id": finding.requirement,
        # Code scanning shows this as the title of an alert.
        "shortDescription": {"text": _short(defect.title)},
        "fullDescription": {"text": statement},
        "help": {
            "text": f"{finding.level}: {statement}",
            "markdown": f"**{inline(finding.level)}**: {inline(statement)}",
        },
        "defaultConfiguration": {"level": _level(run, defect)},
        "properties": {"tags": ["mcp", finding.level]},
    }
    return {**rule, "helpUri": finding.link} if finding.link.startswith("https://") else rule


def _level(run: Run, defect: Defect) -> str:
    binding = any(Level(occurrence.finding.level).binding for occurrence in defect.occurrences)
    return "error" if binding or run.strict else "warning"


def _result(run: Run, defect: Defect, rule: int) -> dict[str, Any]:
    cell, check, finding = defect.cell, defect.check, defect.finding
    places = enumerate(defect.occurrences[:PLACES], 1)
    result: dict[str, Any] = {
        "ruleId": finding.requirement,
        "ruleIndex": rule,
        "level": _level(run, defect),
        "message": {"text": "\n".join(_message(defect))},
        "locations": [_location(cell, finding)],
        "relatedLocations": [{"id": number, **_evidence(occurrence)} for number, occurrence in places],
        "codeFlows": list(_code_flows(cell, finding)),
        "partialFingerprints": _fingerprints(check, finding),
        "occurrenceCount": len(defect.occurrences),
        "properties": {"check": check.id, "scenario": cell.scenario},
    }
    if all(is_expected(run, each.cell, each.check) for each in defect.occurrences):
        result["suppressions"] = [{"kind": "external", "justification": "expected by the baseline"}]
    return {key: value for key, value in result.items() if value != []}


def _message(defect: Defect) -> Iterator[str]:
    finding = defect.finding
    yield f"{_short(defect.title)} ({defect.check.id})"
    yield f"expected: {_short(finding.expected)}"
    yield f"observed: {_short(finding.observed)}"
    yield from (f"also observed: {_short(observed)}" for observed in defect.also_observed[:NAMED])
    if _fits(finding.reproduce):
        yield f"reproduce: {finding.reproduce}"
    yield f"in: {listed(defect.places)}"
    yield from (f"follows: {_short(consequence.summary)}" for consequence in defect.consequences)


def _fits(command: str) -> bool:
    """Whether a message can show a shell command: truncated, or with a link, it would be wrong."""
    return 0 < len(command) <= COMMAND and "](" not in command


def _short(text: str) -> str:
    """The text without Markdown links, truncated."""
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text)} characters)"
    return short.replace("](", "] (")


def _location(cell: CellResult, finding: Finding) -> dict[str, Any]:
    """Alerts are matched between runs by their path, so this path lacks the time of the run.
    `relatedLocations` has the paths of the stored traces."""
    name = basename(cell.trace) or f"trace-{cell.transport}-{cell.revision}.ndjson"
    line = _line(finding.frames[0]) if finding.frames else 1
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(f"{dashed(cell.scenario)}/{name}")},
            "region": {"startLine": line},
        },
        "logicalLocations": [{"fullyQualifiedName": place_of(cell), "kind": "module"}],
    }


def _evidence(occurrence: Occurrence) -> dict[str, Any]:
    cell, finding = occurrence.cell, occurrence.finding
    text = f"{place_of(cell)}: {_short(finding.observed)}"
    return {"message": {"text": text}, **_stored(cell, finding.frames[:1])}


def _stored(cell: CellResult, frames: list[int]) -> dict[str, Any]:
    """The location of a frame in the stored trace; empty if no trace was stored."""
    if not cell.trace:
        return {}
    path = quote(cell.trace.removeprefix("../"))
    file = {"uri": f"file://{path}"} if path.startswith("/") else {"uri": path, "uriBaseId": BASE}
    location: dict[str, Any] = {"artifactLocation": file}
    if frames:
        location["region"] = {"startLine": _line(frames[0])}
    return {"physicalLocation": location}


def _line(frame: int) -> int:
    """Line of a frame in its file, where the first line is the header."""
    return frame + 2


def _code_flows(cell: CellResult, finding: Finding) -> Iterator[dict[str, Any]]:
    """The cited frames in order."""
    steps = [
        {"location": {"message": {"text": _short(text)}, **_stored(cell, [frame])}}
        for frame, text in zip(finding.frames, finding.excerpt, strict=False)
    ]
    if steps:
        yield {"threadFlows": [{"locations": steps}]}


def _fingerprints(check: CheckResult, finding: Finding) -> dict[str, str]:
    """The same in every run: frames and texts of the subject are left out."""
    digest = sha256(f"{finding.requirement}\n{check.id}".encode()).hexdigest()
    return {"primaryLocationLineHash": f"{digest[:16]}:1", "assay/v1": digest}


def _invocation(run: Run, left_out: int) -> dict[str, Any]:
    started = datetime.fromisoformat(run.started)
    finished = (started + timedelta(seconds=run.seconds)).isoformat(timespec="milliseconds")
    conclusion = conclude(run)
    return {
        "executionSuccessful": conclusion in (Conclusion.CONFORMS, Conclusion.DOES_NOT_CONFORM),
        "startTimeUtc": run.started,
        "endTimeUtc": finished.replace("+00:00", "Z"),
        "exitCodeDescription": headline(run),
        "toolExecutionNotifications": [
            {"level": "warning", "message": {"text": text}} for text in _notifications(run, left_out)
        ],
    }


def _notifications(run: Run, left_out: int) -> Iterator[str]:
    if left_out:
        yield f"{left_out} more results were left out: code scanning shows {MOST}"
    yield from (f"{place_of(cell)} broke off: {_short(cell.reason)}" for cell in run.cells if cell.broke_off)
    yield from (f"stale in the baseline: {entry}" for entry in run.stale)
    yield from (f"flaky: {scenario} ({place}, {date})" for scenario, place, date in run.flaky)

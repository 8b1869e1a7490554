"""SARIF 2.1.0, as code scanning takes it: a rule for each broken requirement, a result for each check that
found it broken, with the frames as its locations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.verdict import CheckResult, Finding

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE: Final = "RESULTS"
MOST: Final = 5_000
"""Results that code scanning shows of one run."""
PLACES: Final = 50
"""Places that are listed for one result: the first hundred are shown, and a finding may have thousands."""
ALSO: Final = 3
COMMAND: Final = 4_000
LONGEST: Final = 1_000
"""Characters of what a subject said in one message: it may have sent megabytes."""

Place = tuple[CellResult, CheckResult, Finding]
Found = list[Place]


def render(run: Run) -> str:
    found = _grouped(run)
    shown = dict(list(found.items())[:MOST])
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(run, shown, len(found) - len(shown))]}
    return msgspec.json.format(msgspec.json.encode(_whole(log)), indent=2).decode() + "\n"


def _whole(value: Any) -> Any:
    """Halves of surrogate pairs, which a subject may send, cannot be written: they become a sign for that."""
    match value:
        case str():
            return value.encode("utf-8", "replace").decode() if not value.isascii() else value
        case list():
            return [_whole(one) for one in value]
        case dict():
            return {key: _whole(one) for key, one in value.items()}
    return value


def _grouped(run: Run) -> dict[tuple[str, str], Found]:
    """One alert for one defect: a check that found a requirement broken, wherever it did."""
    places: dict[tuple[str, str], Found] = {}
    for cell in run.cells:
        for check in cell.checks:
            for finding in check.findings:
                places.setdefault((finding.requirement, check.id), []).append((cell, check, finding))
    return dict(sorted(places.items(), key=lambda item: (_level(run, item[1]) != "error", item[0])))


def _run(run: Run, found: Mapping[tuple[str, str], Found], left_out: int) -> dict[str, Any]:
    rules = list(dict.fromkeys(row for row, _ in found))
    first = {row: next(places for (of, _), places in found.items() if of == row) for row in rules}
    return {
        "tool": {
            "driver": {
                "name": "Assay",
                "version": run.assay,
                # The rules are the specification's own: what there is to know of them is there.
                "informationUri": f"{SITE}/specification",
                "rules": [_rule(run, first[row]) for row in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {BASE: {"description": {"text": "the directory that the run was stored in"}}},
        "invocations": [_invocation(run, left_out)],
        "results": [_result(run, places, rules.index(row)) for (row, _), places in found.items()],
    }


def _rule(run: Run, found: Found) -> dict[str, Any]:
    _, check, finding = found[0]
    statement = _short(finding.statement)
    rule: dict[str, Any] = {
        "id": finding.requirement,
        "shortDescription": {"text": _short(check.title)},
        "fullDescription": {"text": statement},
        "help": {"text": f"{finding.level}: {statement}", "markdown": f"**{finding.level}**: {statement}"},
        "defaultConfiguration": {"level": _level(run, found)},
        "properties": {"tags": ["mcp", finding.level]},
    }
    return {**rule, "helpUri": finding.link} if finding.link else rule


def _level(run: Run, found: Found) -> str:
    binding = any(Level(finding.level).binding for _, _, finding in found)
    return "error" if binding or run.strict else "warning"


def _result(run: Run, found: Found, rule: int) -> dict[str, Any]:
    cell, check, finding = found[0]
    about: dict[str, Any] = {
        "ruleId": finding.requirement,
        "ruleIndex": rule,
        "level": _level(run, found),
        "message": {"text": "\n".join(_message(found))},
        "locations": [_location(cell, finding)],
        "relatedLocations": [
            {"id": number, **_evidence(*place)} for number, place in enumerate(found[:PLACES], 1)
        ],
        "codeFlows": list(_code_flows(cell, finding)),
        "partialFingerprints": _fingerprints(check, finding),
        "occurrenceCount": len(found),
        "properties": {"check": check.id, "scenario": cell.scenario},
    }
    if all(is_expected(run, cell, check) for cell, check, _ in found):
        about["suppressions"] = [{"kind": "external", "justification": "expected by the baseline"}]
    return {key: value for key, value in about.items() if value != []}


def _message(found: Found) -> Iterator[str]:
    _, check, finding = found[0]
    yield f"{_short(check.title)} ({check.id})"
    yield f"expected: {_short(finding.expected)}"
    yield f"observed: {_short(finding.observed)}"
    others = dict.fromkeys(other.observed for _, _, other in found if other.observed != finding.observed)
    yield from (f"also observed: {_short(observed)}" for observed in list(others)[:ALSO])
    if _is_short(finding.reproduce):
        yield f"reproduce: {finding.reproduce}"
    places = list(dict.fromkeys(_named(cell) for cell, _, _ in found))
    more = f" and {len(places) - ALSO} more" if len(places) > ALSO else ""
    yield f"in: {', '.join(places[:ALSO])}{more}"


def _is_short(command: str) -> bool:
    """Whether a line for the shell can stand in a message as it is: half of it, or a link, would be wrong."""
    return 0 < len(command) <= COMMAND and "](" not in command


def _named(cell: CellResult) -> str:
    return f"{cell.scenario} ({cell.transport}, {cell.revision})"


def _short(text: str) -> str:
    """Cut to what a page can show, and without what would become a link in a message."""
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text)} characters)"
    return shown.replace("](", "] (")


def _location(cell: CellResult, finding: Finding) -> dict[str, Any]:
    """Alerts are followed from run to run by their path, so this one leaves out the time of the run, which
    stored traces have in theirs; `relatedLocations` name those."""
    name = basename(cell.trace) or f"trace-{cell.transport}-{cell.revision}.ndjson"
    line = _line(finding.frames[0]) if finding.frames else 1
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(f"{dashed(cell.scenario)}/{name}")},
            "region": {"startLine": line},
        },
        "logicalLocations": [{"fullyQualifiedName": _named(cell), "kind": "module"}],
    }


def _evidence(cell: CellResult, check: CheckResult, finding: Finding) -> dict[str, Any]:
    told = f"{_named(cell)}: {_short(finding.observed)}"
    return {"message": {"text": told}, **_stored(cell, finding.frames[:1])}


def _stored(cell: CellResult, frames: list[int]) -> dict[str, Any]:
    """Where a frame is in the stored trace; nothing where none was stored."""
    if not cell.trace:
        return {}
    path = quote(cell.trace.removeprefix("../"))
    file = {"uri": f"file://{path}"} if path.startswith("/") else {"uri": path, "uriBaseId": BASE}
    at: dict[str, Any] = {"artifactLocation": file}
    if frames:
        at["region"] = {"startLine": _line(frames[0])}
    return {"physicalLocation": at}


def _line(frame: int) -> int:
    """Of a frame in its file: lines count from one, and the first is the header."""
    return frame + 2


def _code_flows(cell: CellResult, finding: Finding) -> Iterator[dict[str, Any]]:
    """The frames that prove it, in order."""
    shown: Iterable[tuple[int, str]] = zip(finding.frames, finding.excerpt, strict=False)
    steps = [
        {"location": {"message": {"text": _short(text)}, **_stored(cell, [frame])}} for frame, text in shown
    ]
    if steps:
        yield {"threadFlows": [{"locations": steps}]}


def _fingerprints(check: CheckResult, finding: Finding) -> dict[str, str]:
    """What stays the same from run to run: neither a frame nor anything that a subject said is in it."""
    digest = sha256(f"{finding.requirement}\n{check.id}".encode()).hexdigest()
    return {"primaryLocationLineHash": f"{digest[:16]}:1", "assay/v1": digest}


def _invocation(run: Run, left_out: int) -> dict[str, Any]:
    begun = datetime.fromisoformat(run.started)
    finished = (begun + timedelta(seconds=run.seconds)).isoformat(timespec="milliseconds")
    conclusion = conclude(run)
    return {
        "executionSuccessful": conclusion in (Conclusion.CONFORMS, Conclusion.DOES_NOT_CONFORM),
        "startTimeUtc": run.started,
        "endTimeUtc": finished.replace("+00:00", "Z"),
        "exitCodeDescription": headline(run),
        "toolExecutionNotifications": [
            {"level": "warning", "message": {"text": text}} for text in _notices(run, left_out)
        ],
    }


def _notices(run: Run, left_out: int) -> Iterator[str]:
    if left_out:
        yield f"{left_out} more results were left out: code scanning shows {MOST}"
    yield from (f"{_named(cell)} broke off: {_short(cell.reason)}" for cell in run.cells if cell.broke_off)
    yield from (f"stale in the baseline: {entry}" for entry in run.stale)
    yield from (f"flaky: {scenario} ({place}, {date})" for scenario, place, date in run.flaky)

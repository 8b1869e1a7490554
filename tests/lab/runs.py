"""Handwritten stored runs, for reports and conclusions."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.run.conclusion import outcome_of
from assay.lab.harness.run.run import FORMAT, CellResult, Run, SubjectRecord
from assay.lab.harness.subject.facts import Facts, UnsupportedRevision
from assay.lab.harness.verdict import CheckResult, Finding, Outcome, Verdict
from assay.revisions.registry import HANDSHAKE, PER_REQUEST

REVISION = HANDSHAKE[-1].date
WITH_FINDING = (Verdict.FAILURE, Verdict.WARNING)


def finding(observed: str = "that") -> Finding:
    link = f"https://modelcontextprotocol.io/specification/{REVISION}/server/tools"
    excerpt = ['→ #0 1/lines line: {"id":1}', "← #1 1/lines line: nothing"]
    return Finding(
        "TL-19",
        "MUST",
        "A rule",
        link,
        expected="this",
        observed=observed,
        frames=[0, 1],
        excerpt=excerpt,
        reproduce="printf %s x | server",
        title="A fault",
        fix="Do this instead",
    )


def cell(
    scenario: str, *checks: tuple[str, Verdict], outcome: Outcome | None = None, **fields: Any
) -> CellResult:
    results = [
        CheckResult(
            name,
            f"title of {name}",
            verdict,
            {"TL-19": "link"},
            observations=1,
            findings=[finding()] if verdict in WITH_FINDING else [],
        )
        for name, verdict in checks
    ]
    broke_off = fields.get("broke_off", False)
    judged = outcome_of([name for name, _ in checks], results, broke_off=broke_off)
    return CellResult(
        scenario=scenario,
        title=f"title of {scenario}",
        transport="stdio",
        revision=REVISION,
        outcome=outcome or judged,
        started="2000-01-01T00:00:00.000Z",
        checks=results,
        **{"reason": "a reason" if broke_off or outcome else "", **fields},
    )


def run_of(*cells: CellResult, **fields: Any) -> Run:
    refusal = UnsupportedRevision(PER_REQUEST[-1].date, "server/discover was answered with error -32601: no")
    subject = SubjectRecord("python server.py", "stdio", [Facts(REVISION)], [refusal])
    return Run(FORMAT, "0", "2000-01-01T00:00:00.000Z", 1.0, [subject], list(cells), **fields)

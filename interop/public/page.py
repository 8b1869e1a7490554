"""The page about public servers or clients: a function of the record, the table and the reasons."""

from collections.abc import Iterator, Mapping

from assay.lab.harness.verdict import Outcome
from interop.markdown import cell, frames, short, text
from interop.public.reason import Reason, Reasons
from interop.public.record import JudgedPackage, Record, RecordedFinding
from interop.public.table import ROOT, PublicPackage


def page(introduction: str, record: Record, packages: Mapping[str, PublicPackage], reasons: Reasons) -> str:
    parts = (
        introduction,
        *_subjects(record, packages, reasons),
        *_table(record),
        *(line for judged in record.judged for line in _judged(judged, packages[judged.name], reasons)),
    )
    return "\n".join(parts).rstrip() + "\n"


def _subjects(record: Record, packages: Mapping[str, PublicPackage], reasons: Reasons) -> Iterator[str]:
    yield f"## Packages\n\nJudged by {record.scenarios} scenarios and {record.checks} checks."
    yield f"{_tally(record, reasons)}\n"
    yield "| name | package | SDK | transport | revisions | outcomes | runs | broken MUST | broken SHOULD |"
    yield "|---|---|---|---|---|---|---|--:|--:|"
    for judged in record.judged:
        package = packages[judged.name]
        cells = (
            judged.name,
            f"`{package.package}` {judged.version}",
            package.built_with,
            judged.transport,
            "<br>".join(judged.speaks),
            "<br>".join(
                f"{judged.outcomes[outcome]} {outcome}" for outcome in Outcome if outcome in judged.outcomes
            ),
            _runs(judged),
            str(_count(judged, "FAILURE")),
            str(_count(judged, "WARNING")),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def _tally(record: Record, reasons: Reasons) -> str:
    explained = [
        reasons.of(judged.name, finding.key) for judged in record.judged for finding in judged.findings
    ]
    debatable = sum(1 for reason in explained if reason and reason.debatable)
    repeated = [judged for judged in record.judged if judged.runs > 1]
    same = sum(1 for judged in repeated if not judged.differing)
    lines = [f"{len(explained)} findings in {len(record.judged)}, {debatable} of them debatable."]
    if repeated:
        lines.append(f"{len(repeated)} were judged several times; {same} of them with the same verdicts.")
    return "\n".join(lines)


def _runs(judged: JudgedPackage) -> str:
    if judged.runs == 1:
        return "1"
    return f"{judged.runs}, {f'{judged.differing} differ' if judged.differing else 'the same'}"


def _count(judged: JudgedPackage, verdict: str) -> int:
    return len({finding.requirement for finding in judged.findings if finding.verdict == verdict})


def _table(record: Record) -> Iterator[str]:
    yield "## Findings\n"
    yield "| name | requirement | level | revisions | expected | observed |"
    yield "|---|---|---|---|---|---|"
    for judged in record.judged:
        for finding in judged.findings:
            rule = f"[{finding.requirement}](#{_anchor(judged, finding)}) {cell(finding.statement)}"
            values = (cell(finding.expected), cell(short(finding.observed)))
            cells = (judged.name, rule, finding.level, "<br>".join(finding.revisions), *values)
            yield f"| {' | '.join(cells)} |"
    yield ""


def _judged(judged: JudgedPackage, package: PublicPackage, reasons: Reasons) -> Iterator[str]:
    yield f"## {judged.name} {judged.version}\n"
    if not judged.findings:
        yield "No finding.\n"
    for finding in judged.findings:
        reason = reasons.of(judged.name, finding.key)
        traces = f"../../{package.traces.relative_to(ROOT).as_posix()}"
        yield from _finding(judged, finding, reason, traces)


def _finding(
    judged: JudgedPackage, finding: RecordedFinding, reason: Reason | None, traces: str
) -> Iterator[str]:
    yield f'<a id="{_anchor(judged, finding)}"></a>\n'
    yield f"**[{finding.requirement}]({finding.link}) ({finding.level})**: {text(finding.statement)}\n"
    yield f"- check: `{finding.check}`, on {judged.transport} at {', '.join(finding.revisions)}"
    yield f"- expected: {text(finding.expected)}"
    yield f"- observed: {text(short(finding.observed))}"
    yield f"- trace: [{finding.trace}]({traces}/{judged.name}/{finding.trace})"
    if reason:
        yield f"- {'debatable' if reason.debatable else 'why'}: {reason.why.strip()}"
    yield from frames(finding.excerpt)


def _anchor(judged: JudgedPackage, finding: RecordedFinding) -> str:
    return f"{judged.name}-{finding.check}-{finding.requirement}".replace(".", "-").lower()

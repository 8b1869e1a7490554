"""A certification on the terminal: progress, a summary for people, and the summary as JSON."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from assay.certify.bundle import layout
from assay.certify.certification import Bundle
from assay.certify.conclusion import Conclusion
from assay.certify.finding_group import FindingGroup, group_findings
from assay.certify.fix_hint import fix_hint
from assay.certify.scoring import Measure, Score
from assay.certify.summary_form import Summary
from assay.certify.vulnerabilities import report as vulnerabilities
from assay.cli.exit_code import CONCLUSIONS, CommandFailed, ExitCode
from assay.lab.harness.run.event import RunEvent
from assay.lab.harness.verdict import Verdict
from assay.lab.live import Live

from .progress import progress
from .run import on_signal
from .stream import emit, say_lines

MOST: Final = 3
"""Findings of one demand; all are in the report."""
REASONS: Final = 6
"""Reasons for demands that were not measured."""


async def show_certification(
    live: Live[RunEvent, Bundle], badge: Path | None, *, quiet: bool, as_json: bool
) -> int:
    """Print the JSON, if it is wanted, and last a short summary for people.

    Raises:
        LabError: nothing was certified.
        CommandFailed: the badge cannot be written.
    """
    with nullcontext(_ignore) if quiet else progress(sys.stderr) as watch:
        async with live:
            on_signal(live.interrupt)
            async for event in live:
                watch(event)
    bundle = live.result
    if badge is not None:
        _write_badge(bundle, badge)
    if as_json:
        emit(bundle.files[layout.SUMMARY].decode())
    if not quiet:
        say_lines((*_unused(bundle), *_summary(bundle.summary, bundle.path)))
    return CONCLUSIONS[bundle.conclusion]


def _ignore(event: RunEvent) -> None: ...


def _write_badge(bundle: Bundle, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bundle.badge)
    except OSError as error:
        problem = f"cannot write {path}: {error.strerror}"
        raise CommandFailed(ExitCode.INCOMPLETE, problem, "name another file with --badge-out") from error


def _unused(bundle: Bundle) -> Iterator[str]:
    """Waivers that waive nothing."""
    if layout.VULNERABILITIES in bundle.files:
        report = vulnerabilities.read(bundle.files[layout.VULNERABILITIES])
        names = vulnerabilities.useless_waivers(report)
        yield from (f"--waive {name}: no vulnerability of that name was found" for name in names)


def _summary(summary: Summary, out: Path | None) -> Iterator[str]:
    """What is broken, and below it the result in a few lines."""
    for score in summary.checks:
        if score.status in (Verdict.FAILURE, Verdict.WARNING):
            yield from _violation(score)
    counts = summary.summary
    yield ""
    scope = f", {summary.scope[0]} only" if summary.scope and len(summary.scope) == 1 else ""
    as_far = " as far as it was measured" if counts.not_measured else ""
    conclusion = f"{summary.conclusion}{as_far if summary.conclusion is Conclusion.MET else ''}"
    yield f"{summary.server.name} {summary.server.version}, {summary.profile.id}{scope}: {conclusion}"
    yield (
        f"  scored: {counts.passed} of {counts.scored} met; {counts.warned} warned; "
        f"{counts.not_measured} not measured; {counts.skipped} not applicable"
    )
    yield from (f"  {name:<14}{state}" for name, state in summary.categories.items())
    yield from _unmeasured(summary)
    yield from _signature(summary, out)


def _violation(score: Score) -> Iterator[str]:
    mark = score.status if score.scored else f"{score.status} (not scored)"
    yield f"{mark} {score.id}: {score.title}"
    if score.reason:
        yield f"  {score.reason}"
    groups = group_findings(score.findings)
    for group in groups[:MOST]:
        yield f"  {group.where}: expected {group.first.expected}"
        yield f"    observed {' '.join(group.first.observed.split())}"
        yield f"    {_traces(group)}"
    if len(groups) > MOST:
        yield f"  and {len(groups) - MOST} more, in the report"
    if hint := fix_hint(score.id):
        yield f"  fix: {hint}"


def _traces(group: FindingGroup) -> str:
    first, *others = group.traces or [group.first.scenario]
    return f"{first}, and likewise in {len(others)} more" if others else first


def _unmeasured(summary: Summary) -> Iterator[str]:
    """How many demands share a reason, most first. Their names are in the JSON and in the report."""
    missing = [score for score in summary.checks if score.measure is Measure.NOT_MEASURED]
    by_reason = Counter(score.reason for score in missing)
    for reason, number in by_reason.most_common(REASONS):
        yield f"  not measured: {number} {'demand' if number == 1 else 'demands'}: {reason}"
    rest = sum(number for _, number in by_reason.most_common()[REASONS:])
    if rest:
        yield f"  not measured: {rest} more, see the report"
    options = sorted({option for score in missing for option in score.reason_options})
    if options:
        yield f"  to measure more, add {', '.join(options)}"


def _signature(summary: Summary, out: Path | None) -> Iterator[str]:
    if out is None:
        yield "no bundle was written: --out DIR writes one"
    elif summary.attested.developer is None:
        yield f"bundle: {out}, not signed, so no verifier accepts it"
        yield "  `assay keygen dev` makes a pair of keys; certify again with --key dev.key --force"
    else:
        attested = ", self-attested" if summary.attested.self_attested else ""
        yield f"bundle: {out}, signed with {summary.attested.developer}{attested}"
        yield f"  verify it anywhere: assay verify {out} --trust FILE.pub"

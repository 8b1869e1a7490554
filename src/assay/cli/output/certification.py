"""A certification on the terminal: progress, a summary for people, and the summary as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from textwrap import wrap
from typing import Final

from assay.certify.bundle import layout
from assay.certify.certification import Bundle
from assay.certify.finding_group import FindingGroup, group_findings
from assay.certify.fix_hint import fix_hint
from assay.certify.scoring import Conclusion, Measure, Score
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
WIDTH: Final = 110


async def show_certification(live: Live[RunEvent, Bundle], badge: Path | None, *, quiet: bool) -> int:
    """
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
    if not quiet:
        say_lines((*_summary(bundle.summary, bundle.path), *_unused(bundle)))
    emit(bundle.files[layout.SUMMARY].decode())
    return CONCLUSIONS[bundle.conclusion]


def _ignore(event: RunEvent) -> None: ...


def _write_badge(bundle: Bundle, path: Path) -> None:
    try:
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
    counts = summary.summary
    yield ""
    as_far = " as far as it was measured" if counts.not_measured else ""
    conclusion = f"{summary.conclusion}{as_far if summary.conclusion is Conclusion.MET else ''}"
    yield f"{summary.server.name} {summary.server.version}, {summary.profile.id}: {conclusion}"
    yield (
        f"  scored: {counts.passed} of {counts.scored} met; {counts.warned} warned; "
        f"{counts.not_measured} not measured; {counts.skipped} not applicable"
    )
    yield from (f"  {name:<14}{state}" for name, state in summary.categories.items())
    for score in summary.checks:
        if score.status in (Verdict.FAILURE, Verdict.WARNING):
            yield from _violation(score)
    yield from _unmeasured(summary)
    yield _signature(summary, out)


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
    """The demands that share a reason, on one line."""
    by_reason: dict[str, list[str]] = {}
    for score in summary.checks:
        if score.measure is Measure.NOT_MEASURED:
            by_reason.setdefault(score.reason, []).append(score.id)
    if by_reason:
        yield "not measured:"
    for reason, names in by_reason.items():
        yield f"  {reason}:"
        yield from _wrapped(", ".join(names))


def _wrapped(names: str) -> list[str]:
    """Without breaking a name: people copy and search for them."""
    indent = " " * 4
    return wrap(
        names,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _signature(summary: Summary, out: Path | None) -> str:
    if out is None:
        return "no bundle was written: --out DIR writes one"
    if summary.attested.developer is None:
        return f"bundle: {out}, not signed, so no verifier accepts it: --key FILE signs it"
    attested = ", self-attested" if summary.attested.self_attested else ""
    return f"bundle: {out}, signed with {summary.attested.developer}{attested}"

"""Judge the stored traces of a bundle again with today's checks, and rebuild its reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from assay.certify.bundle.layout import REGISTRY_ENTRY, REPORT_PAGE, REPORT_TEXT, RUN, SUMMARY
from assay.certify.profile_list import shipped
from assay.certify.report import html, markdown
from assay.certify.scoring import SCOPE, Measure, Score, find_unmeasured
from assay.certify.summary_form import Summary
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.check import CheckFailed
from assay.lab.harness.run.rejudge import rejudged
from assay.lab.harness.run.run import CellResult, Run, is_current
from assay.lab.harness.subject.discovery import DISCOVERY
from assay.lab.harness.trace.file import BadTrace, parse_trace
from assay.lab.harness.trace.recorder import MAX_FRAMES
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Finding, Outcome, Verdict
from assay.lab.suites import suite_named
from assay.model.version import VERSION

from .evidence import stored_summary
from .refusal import BundleRefused, Refusal, RefusalReason, refuse
from .run_audit import RunAudit
from .stored_bundle import StoredBundle
from .stored_run import stored_run, trace_name

REPORTS: Final[Mapping[str, Callable[[Summary], str]]] = {REPORT_PAGE: html, REPORT_TEXT: markdown}
SUITE: Final = "marketplace"
MAX_TRACE: Final = 2 * MAX_FRAMES
"""Frames of a trace: a recording may continue with the frames of another one."""
Results = dict[str, tuple[object, ...]]
"""Check → its verdict, the violated requirements and, for the same version, the details of its findings."""


def rejudge(bundle: StoredBundle) -> str:
    """
    Raises:
        BundleRefused: the run is incomplete or of another server, or a trace was modified or contradicts the
            run.
    """
    run = stored_run(bundle)
    if run.suite != SUITE:
        raise refuse(RefusalReason.BAD_EVIDENCE, RUN, f"judged by the suite {run.suite!r}, not {SUITE!r}")
    suite = suite_named(SUITE)
    closely = is_current(bundle.content(RUN))
    audit = RunAudit(run, suite, closely=closely)
    if gaps := [*audit.gaps()]:
        raise BundleRefused(gaps)
    judge = _TraceJudge(bundle, suite, audit, closely=closely)
    judged = [cell for cell in run.cells if cell.trace]
    refusals = [refusal for cell in judged for refusal in judge.compare(cell)]
    refusals += [*audit.false_exemptions(), *_false_claims(bundle, run, suite, closely=closely)]
    if refusals:
        raise BundleRefused(refusals)
    return f"{len(judged)} traces have intact chains and the stored verdicts{_versions(run)}"


def report(bundle: StoredBundle) -> str:
    """
    Raises:
        BundleRefused: a report differs from the summary.
    """
    summary = stored_summary(bundle)
    if not is_current(bundle.content(RUN)):
        return f"not compared: it was written by version {summary.tool.version}"
    names = [name for name in REPORTS if name in bundle.entries]
    wrong = [name for name in names if bundle.content(name) != REPORTS[name](summary).encode()]
    if wrong:
        raise BundleRefused(
            [Refusal(RefusalReason.WRONG_REPORT, name, "it differs from the summary") for name in wrong]
        )
    return f"{' and '.join(names)} match the summary" if names else "none"


def _false_claims(bundle: StoredBundle, run: Run, suite: Suite, *, closely: bool) -> Iterator[Refusal]:
    """Demands that the summary calls not applicable, although the run does not show that."""
    unmeasured = find_unmeasured(run, suite)
    for score in _within_scope(stored_summary(bundle)):
        expected = unmeasured.get(score.id)
        same = expected is not None and expected.measure is score.measure
        if closely:
            same = same and expected is not None and expected.reason == score.typed_reason
        if score.measure is Measure.NOT_APPLICABLE and not same:
            detail = f"{score.id} is called not applicable ({score.reason}), but the run does not show that"
            yield Refusal(RefusalReason.OTHER_VERDICT, SUMMARY, detail)


def _within_scope(summary: Summary) -> list[Score]:
    """Without the demands on another transport, which the scope of the badge names."""
    scope = summary.scope or SCOPE
    within = {demand.id for demand in shipped(summary.profile.id).demands if demand.is_within(scope)}
    return [score for score in summary.checks if score.id in within]


def _versions(run: Run) -> str:
    return "" if run.assay == VERSION else f" (stored by version {run.assay}, now judged by {VERSION})"


class _TraceJudge:
    """Judges traces one by one, and compares the results with the run."""

    def __init__(self, bundle: StoredBundle, suite: Suite, audit: RunAudit, *, closely: bool) -> None:
        self._bundle, self._suite, self._audit, self._closely = bundle, suite, audit, closely
        self._entry = bundle.content(REGISTRY_ENTRY) if REGISTRY_ENTRY in bundle.entries else None

    def compare(self, stored: CellResult) -> Iterator[Refusal]:
        name = trace_name(stored)
        try:
            trace = self._trace(name, stored)
            [today] = rejudged([self._suite], [(name, trace)]).cells
        except BundleRefused as error:
            yield from error.refusals
        except BadTrace as error:
            yield Refusal(RefusalReason.BROKEN_TRACE, error.place, error.problem)
        except CheckFailed as error:
            yield Refusal(RefusalReason.BROKEN_TRACE, name, f"it cannot be judged: {error}")
        else:
            yield from self._audit.add_trace(name, trace, self._entry)
            before, after = (_comparable(cell, self._suite) for cell in (stored, today))
            yield from _differences(name, before, after, closely=self._closely)

    def _trace(self, name: str, stored: CellResult) -> Trace:
        """
        Raises:
            BadTrace: the lab cannot have recorded it.
            BundleRefused: it is the trace of another scenario.
        """
        trace = parse_trace(self._bundle.content(name), name)
        header = trace.header
        place = header.scenario, header.transport, header.revision
        if header.role != self._suite.role.value or len(trace.frames) > MAX_TRACE:
            raise BadTrace(name, f"not recorded by the lab: a {header.role} with {len(trace.frames)} frames")
        if (*place, header.started) != (*stored.place, stored.started):
            detail = f"a trace of {' '.join(place)}, which the run gives for {' '.join(stored.place)}"
            raise refuse(RefusalReason.OTHER_VERDICT, name, detail)
        return trace


def _comparable(cell: CellResult, suite: Suite) -> CellResult:
    """Discovery is not a scenario: keep only the results of checks that read every trace."""
    if cell.scenario != DISCOVERY:
        return cell
    everywhere = {name for check in suite.checks.values() if check.everywhere for name in check.results}
    judged = [check for check in cell.checks if check.verdict is not Verdict.SKIPPED]
    checks = [check for check in judged if check.id in everywhere]
    return msgspec.structs.replace(cell, checks=checks, outcome=Outcome.INCOMPLETE)


def _differences(name: str, stored: CellResult, today: CellResult, *, closely: bool) -> Iterator[Refusal]:
    before, after = _results(stored, closely), _results(today, closely)
    for check in sorted(before.keys() | after.keys()):
        if before.get(check) != after.get(check):
            detail = f"{check}: {_text(before, check)} in the run, {_text(after, check)} by today's checks"
            yield Refusal(RefusalReason.OTHER_VERDICT, name, detail)
    if before == after and (stored.outcome, stored.broke_off) != (today.outcome, today.broke_off):
        detail = f"{_ended(stored)} in the run, {_ended(today)} by today's checks"
        yield Refusal(RefusalReason.OTHER_VERDICT, name, detail)


def _results(cell: CellResult, closely: bool) -> Results:
    return {
        check.id: (
            check.verdict.value,
            *sorted({finding.requirement for finding in check.findings}),
            *((check.observations, *map(_finding, check.findings)) if closely else ()),
        )
        for check in cell.checks
    }


def _finding(finding: Finding) -> tuple[object, ...]:
    """The details of a finding, without its excerpt, whose length may vary."""
    return finding.level, finding.expected, finding.observed, *finding.frames


def _text(results: Results, check: str) -> str:
    if check not in results:
        return "missing"
    verdict, *details = results[check]
    words = [str(detail) for detail in details if not isinstance(detail, tuple)]
    return f"{verdict} ({', '.join(words)})" if words else str(verdict)


def _ended(cell: CellResult) -> str:
    return f"{cell.outcome}, broken off" if cell.broke_off else cell.outcome.value

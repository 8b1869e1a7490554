"""What today's lab makes of a bundle: stored traces are judged again, and reports are written again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from assay.certify.bundle.layout import REGISTRY_ENTRY, REPORT_PAGE, REPORT_TEXT, RUN, SUMMARY
from assay.certify.report import html, markdown
from assay.certify.scoring import Measure, excuses
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

from .case import Case
from .evidence import stored_summary
from .refusal import Reason, Refusal, Refused, refused
from .run_account import Account
from .stored_run import stored_run, trace_name

REPORTS: Final[Mapping[str, Callable[[Summary], str]]] = {REPORT_PAGE: html, REPORT_TEXT: markdown}
SUITE: Final = "marketplace"
LONGEST: Final = 2 * MAX_FRAMES
"""Frames of a trace: a recording may go on with what another has heard."""
Told = dict[str, tuple[object, ...]]
"""Check → its verdict, the requirements that it found broken and, by the same version, what it saw."""


def rejudge(case: Case) -> str:
    """
    Raises:
        Refused: the run leaves something out or is of another server, a trace was changed after it was
            recorded, or shows something else than the run says.
    """
    run = stored_run(case)
    if run.suite != SUITE:
        raise refused(Reason.BAD_EVIDENCE, RUN, f"played by the suite {run.suite!r}, not {SUITE!r}")
    suite = suite_named(SUITE)
    closely = is_current(case.content(RUN))
    account = Account(run, suite, closely=closely)
    if gaps := [*account.gaps()]:
        raise Refused(gaps)
    judging = _Judging(case, suite, account, closely=closely)
    judged = [cell for cell in run.cells if cell.trace]
    refusals = [refusal for cell in judged for refusal in judging.against(cell)]
    refusals += [*account.excuses(), *_unexcused(case, run, suite, closely=closely)]
    if refusals:
        raise Refused(refusals)
    return f"{len(judged)} traces, each chained and with the verdicts that it had{_since(run)}"


def report(case: Case) -> str:
    """
    Raises:
        Refused: a report does not show the summary.
    """
    found = stored_summary(case)
    if not is_current(case.content(RUN)):
        return f"not compared: it was written by version {found.tool.version}"
    there = [name for name in REPORTS if name in case.entries]
    wrong = [name for name in there if case.content(name) != REPORTS[name](found).encode()]
    if wrong:
        raise Refused([Refusal(Reason.WRONG_REPORT, name, "it does not show the summary") for name in wrong])
    return f"{' and '.join(there)} as the summary gives them" if there else "none"


def _unexcused(case: Case, run: Run, suite: Suite, *, closely: bool) -> Iterator[Refusal]:
    """A demand that does not apply is left aside: so the run must show that it does not."""
    found = excuses(run, suite)
    for one in stored_summary(case).checks:
        shown = found.get(one.id)
        same = shown is not None and shown.measure is one.measure
        if closely:
            same = same and shown is not None and shown.reason == one.typed_reason
        if one.measure is Measure.NOT_APPLICABLE and not same:
            detail = f"{one.id} is said not to apply ({one.reason}), and the run does not show that"
            yield Refusal(Reason.OTHER_VERDICT, SUMMARY, detail)


def _since(run: Run) -> str:
    today = VERSION
    return "" if run.assay == today else f" (then by version {run.assay}, now by {today})"


class _Judging:
    """Traces are held against what the run says of them, one by one."""

    def __init__(self, case: Case, suite: Suite, account: Account, *, closely: bool) -> None:
        self._case, self._suite, self._account, self._closely = case, suite, account, closely
        self._entry = case.content(REGISTRY_ENTRY) if REGISTRY_ENTRY in case.entries else None

    def against(self, stored: CellResult) -> Iterator[Refusal]:
        name = trace_name(stored)
        try:
            trace = self._trace(name, stored)
            [today] = rejudged([self._suite], [(name, trace)]).cells
        except Refused as error:
            yield from error.refusals
        except BadTrace as error:
            yield Refusal(Reason.BROKEN_TRACE, error.place, error.problem)
        except CheckFailed as error:
            yield Refusal(Reason.BROKEN_TRACE, name, f"it cannot be judged: {error}")
        else:
            yield from self._account.hear(name, trace, self._entry)
            then, now = (_comparable(cell, self._suite) for cell in (stored, today))
            yield from _differences(name, then, now, closely=self._closely)

    def _trace(self, name: str, stored: CellResult) -> Trace:
        """
        Raises:
            BadTrace: it is none that could have been recorded.
            Refused: it is that of another scenario than the run says.
        """
        trace = parse_trace(self._case.content(name), name)
        header = trace.header
        place = header.scenario, header.transport, header.revision
        if header.role != self._suite.role.value or len(trace.frames) > LONGEST:
            raise BadTrace(
                name, f"a recording of a {header.role} with {len(trace.frames)} frames is none of ours"
            )
        if (*place, header.started) != (*stored.place, stored.started):
            detail = f"the run says it shows {' '.join(stored.place)}, itself it says {' '.join(place)}"
            raise refused(Reason.OTHER_VERDICT, name, detail)
        return trace


def _comparable(cell: CellResult, suite: Suite) -> CellResult:
    """Getting to know a server is no scenario: of it, only what reads every trace was judged, and seen."""
    if cell.scenario != DISCOVERY:
        return cell
    everywhere = {name for check in suite.checks.values() if check.everywhere for name in check.results}
    seen = [check for check in cell.checks if check.id in everywhere and check.verdict is not Verdict.SKIPPED]
    return msgspec.structs.replace(cell, checks=seen, outcome=Outcome.INCOMPLETE)


def _differences(name: str, stored: CellResult, today: CellResult, *, closely: bool) -> Iterator[Refusal]:
    then, now = _told(stored, closely), _told(today, closely)
    for check in sorted(then.keys() | now.keys()):
        if then.get(check) != now.get(check):
            detail = f"{check}: {_shown(then, check)} in the run, {_shown(now, check)} by today's checks"
            yield Refusal(Reason.OTHER_VERDICT, name, detail)
    if then == now and (stored.outcome, stored.broke_off) != (today.outcome, today.broke_off):
        detail = f"{_ended(stored)} in the run, {_ended(today)} by today's checks"
        yield Refusal(Reason.OTHER_VERDICT, name, detail)


def _told(cell: CellResult, closely: bool) -> Told:
    return {
        check.id: (
            check.verdict.value,
            *sorted({finding.requirement for finding in check.findings}),
            *((check.observations, *map(_finding, check.findings)) if closely else ()),
        )
        for check in cell.checks
    }


def _finding(found: Finding) -> tuple[object, ...]:
    """What a person reads of it; excerpts are cut, and may be cut otherwise."""
    return found.level, found.expected, found.observed, *found.frames


def _shown(told: Told, check: str) -> str:
    if check not in told:
        return "not there"
    verdict, *rest = told[check]
    words = [str(one) for one in rest if not isinstance(one, tuple)]
    return f"{verdict} ({', '.join(words)})" if words else str(verdict)


def _ended(cell: CellResult) -> str:
    return f"{cell.outcome}, broken off" if cell.broke_off else cell.outcome.value

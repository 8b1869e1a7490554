"""What today's lab makes of a bundle: stored traces are judged again, and reports are written again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Final

import msgspec

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.check import CheckFailed
from assay.lab.harness.discovery import DISCOVERY
from assay.lab.harness.rejudging import rejudged
from assay.lab.harness.run import CellResult, Run
from assay.lab.harness.trace_file import BadTrace, parse_trace
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.suites import SHIPPED, suite_named

from .layout import REPORT_PAGE, REPORT_TEXT, RUN, SUMMARY
from .refusal import Reason, Refusal, Refused, refused
from .report import html, markdown
from .scoring import Excuse, Measure, excuses
from .summary_form import Summary
from .verification_case import Case
from .verification_evidence import stored_summary
from .verification_run import stored_run, trace_name

REPORTS: Final[Mapping[str, Callable[[Summary], str]]] = {REPORT_PAGE: html, REPORT_TEXT: markdown}
Told = dict[str, tuple[str, tuple[str, ...]]]
"""Check → its verdict, and the requirements that it found broken."""


def rejudge(case: Case) -> str:
    """
    Raises:
        Refused: a trace was changed after it was recorded, or shows something else than the run says.
    """
    run = stored_run(case)
    if run.suite not in SHIPPED:
        raise refused(Reason.BAD_EVIDENCE, RUN, f"no suite {run.suite!r} in this version")
    suite = suite_named(run.suite)
    judged = [cell for cell in run.cells if cell.trace]
    refusals = [refusal for cell in judged for refusal in _against(case, suite, cell)]
    refusals += _unexcused(case, run, suite)
    if refusals:
        raise Refused(refusals)
    return f"{len(judged)} traces, each chained and with the verdicts that it had{_since(run)}"


def report(case: Case) -> str:
    """
    Raises:
        Refused: a report does not show the summary.
    """
    found = stored_summary(case)
    if found.tool.version != version("assay"):
        return f"not compared: it was written by version {found.tool.version}"
    there = [name for name in REPORTS if name in case.entries]
    wrong = [name for name in there if case.content(name) != REPORTS[name](found).encode()]
    if wrong:
        raise Refused([Refusal(Reason.WRONG_REPORT, name, "it does not show the summary") for name in wrong])
    return f"{' and '.join(there)} as the summary gives them" if there else "none"


def _unexcused(case: Case, run: Run, suite: Suite) -> Iterator[Refusal]:
    """A demand that does not apply is left aside: so the run must show that it does not."""
    found = excuses(run, suite)
    for one in stored_summary(case).checks:
        if one.measure is Measure.NOT_APPLICABLE and found.get(one.id) != Excuse(one.measure, one.reason):
            detail = f"{one.id} is said not to apply ({one.reason}), and the run does not show that"
            yield Refusal(Reason.OTHER_VERDICT, SUMMARY, detail)


def _since(run: Run) -> str:
    today = version("assay")
    return "" if run.assay == today else f" (then by version {run.assay}, now by {today})"


def _against(case: Case, suite: Suite, stored: CellResult) -> Iterator[Refusal]:
    name = trace_name(stored)
    try:
        trace = parse_trace(case.content(name), name)
        [today] = rejudged([suite], [(name, trace)]).cells
    except Refused as error:
        yield from error.refusals
    except BadTrace as error:
        yield Refusal(Reason.BROKEN_TRACE, error.place, error.problem)
    except CheckFailed as error:
        yield Refusal(Reason.BROKEN_TRACE, name, f"it cannot be judged: {error}")
    else:
        yield from _differences(name, _comparable(stored, suite), _comparable(today, suite))


def _comparable(cell: CellResult, suite: Suite) -> CellResult:
    """Getting to know a server is no scenario: of it, only what reads every trace was judged, and seen."""
    if cell.scenario != DISCOVERY:
        return cell
    everywhere = {name for check in suite.checks.values() if check.everywhere for name in check.results}
    seen = [check for check in cell.checks if check.id in everywhere and check.verdict is not Verdict.SKIPPED]
    return msgspec.structs.replace(cell, checks=seen, outcome=Outcome.INCOMPLETE)


def _differences(name: str, stored: CellResult, today: CellResult) -> Iterator[Refusal]:
    if stored.place != today.place:
        detail = f"the run says it shows {' '.join(stored.place)}, itself it says {' '.join(today.place)}"
        yield Refusal(Reason.OTHER_VERDICT, name, detail)
        return
    then, now = _told(stored), _told(today)
    for check in sorted(then.keys() | now.keys()):
        if then.get(check) != now.get(check):
            detail = f"{check}: {_shown(then, check)} in the run, {_shown(now, check)} by today's checks"
            yield Refusal(Reason.OTHER_VERDICT, name, detail)
    if then == now and stored.outcome != today.outcome:
        detail = f"{stored.outcome} in the run, {today.outcome} by today's checks"
        yield Refusal(Reason.OTHER_VERDICT, name, detail)


def _told(cell: CellResult) -> Told:
    return {
        check.id: (check.verdict.value, tuple(sorted({finding.requirement for finding in check.findings})))
        for check in cell.checks
    }


def _shown(told: Told, check: str) -> str:
    if check not in told:
        return "not there"
    verdict, broken = told[check]
    return f"{verdict} ({', '.join(broken)})" if broken else verdict

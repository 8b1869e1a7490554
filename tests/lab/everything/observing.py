"""What the check of one official scenario sees in a trace written by hand."""

from __future__ import annotations

from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import suite_named


def seen(check: str, trace: Trace) -> list[tuple[str, bool]]:
    """Its observations, as the row and whether it holds."""
    return [(one.requirement, one.holds) for one in suite_named("everything").checks[check].judge(trace)]


def broken(check: str, trace: Trace) -> set[str]:
    return {row for row, holds in seen(check, trace) if not holds}


def held(check: str, trace: Trace) -> set[str]:
    """Rows that were seen to hold, and nowhere to be broken."""
    return {row for row, _ in seen(check, trace)} - broken(check, trace)

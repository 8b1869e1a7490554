"""What one check sees in a trace written by hand."""

from __future__ import annotations

from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import protocol_suite

SUITE = protocol_suite()


def seen(check: str, trace: Trace) -> list[tuple[str, bool]]:
    """Its observations, as the row and whether it holds; rows that are not in force are left out."""
    found = SUITE.checks[check].judge(trace)
    return [
        (one.requirement, one.holds)
        for one in found
        if SUITE.requirements[one.requirement].level(trace.revision)
    ]

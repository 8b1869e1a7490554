"""Unsubscribing succeeds, and then the resource changes in silence."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.answered import answered
from assay.lab.everything.borrowed import borrow
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.checks.resources import subscriptions

ROW = "resources-unsubscribe"


@official_check(ROW, "After unsubscribing no updates come", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    if any(answered(trace, "resources/unsubscribe")):
        yield from borrow(trace, ROW, subscriptions.judge, "RS-03")

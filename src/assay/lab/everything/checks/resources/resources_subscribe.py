"""Subscribing succeeds, and a change that two readings show is announced."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.answered import answered
from assay.lab.everything.borrowed import borrow
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.checks.resources import announced

ROW = "resources-subscribe"


@official_check(ROW, "A subscription brings updates", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "resources/subscribe"):
        holds = exchange.result is not None
        yield observe(ROW, holds, exchange, expected="a result", observed=exchange)
    yield from borrow(trace, ROW, announced.judge, "RS-03")

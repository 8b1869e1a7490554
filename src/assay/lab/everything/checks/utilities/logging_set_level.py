"""`logging/setLevel` is answered with an empty object, and less severe messages stop."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.answered import answered
from assay.lab.everything.borrowed import borrow
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.checks.utilities import log_level

ROW = "logging-set-level"


@official_check(ROW, "A log level is set and kept to", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "logging/setLevel"):
        yield observe(ROW, exchange.result == {}, exchange, expected="the result {}", observed=exchange)
    yield from borrow(trace, ROW, log_level.judge, "LOG-02")

"""Lists are answered at once: nothing is asked first."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.harness.subject.discovery import LISTS
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.retrying import wants_input

ROW = "sep-2322-not-on-unsupported-requests"


@official_check("input-required-result-unsupported-methods", "Lists are answered at once", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges(*(method for _, method, *_ in LISTS)):
        if exchange.result is not None:
            at_once = not wants_input(exchange)
            yield observe(ROW, at_once, exchange, expected="the list", observed=exchange)

"""Addresses are not opened through a shell."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.shell import NAME, RESULT, SUM
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

ROW = "SEC-09"


@check("Addresses are not opened through a shell", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for stop in Journey(trace).authorizations:
        came = str(stop.said.get(NAME) or "")
        # A client that puts its own query behind with a second question mark is no less safe.
        if came.startswith((SUM, RESULT)):
            expected = f"{NAME}={SUM}, as in the address"
            yield observe(ROW, came.startswith(SUM), stop, expected=expected, observed=f"{NAME}={came}")

"""`state` is sent, and an answer with another one is not believed."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey, Stop
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

ROW = "AU-88"


@check("`state` is used and verified", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for stop in journey.authorizations:
        sent = stop.said.get("state")
        yield observe(ROW, bool(sent), stop, expected="a `state`", observed="none")
        told = stop.answered
        if sent and "code" in told and told.get("state") != sent:
            yield _refused(journey, stop, told["code"])


def _refused(journey: Journey, stop: Stop, code: str) -> Observation:
    used = [one for one in journey.exchanges if one.said.get("code") == code]
    expected = "no token request with a code that came with another `state`"
    return observe(ROW, not used, stop, *used, expected=expected, observed="the code was used")

"""A client that gives up a request says so."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, calls_of
from assay.lab.harness.check import check
from assay.lab.harness.message import same_id
from assay.lab.harness.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe

SLOW = "endless"
ROWS = {Transport.STDIO: "STD-09", Transport.HTTP: "HTTP-19"}


@check("A request that is given up is cancelled", rows=tuple(ROWS.values()), transports=frozenset(ROWS))
def judge(trace: Trace) -> Iterator[Observation]:
    row = ROWS.get(Transport(trace.transport))
    later = calls_of(trace, AFTER)
    for exchange in calls_of(trace, SLOW):
        if row is None or exchange.answer is not None or not later:
            continue
        said = [
            one
            for one in trace.received
            if one.method == "notifications/cancelled"
            and same_id(one.params.get("requestId"), exchange.request.id)
        ]
        expected = f"notifications/cancelled for id {exchange.request.id!r}"
        observed = "other requests, and no word about this one"
        yield observe(row, bool(said), exchange, *said, later[0], expected=expected, observed=observed)

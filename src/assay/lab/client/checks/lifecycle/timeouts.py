"""A request that takes too long is cancelled: in words, or by hanging up where that means the same."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, ENDLESS, calls_of, given_up
from assay.lab.harness.check import check
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe

ROW = "LIFE-16"


@check("What takes too long is cancelled", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    if trace.transport != Transport.HTTP or not trace.revision.http.disconnect_cancels:
        yield from given_up(ROW, trace)
        return
    later = [one for one in calls_of(trace, AFTER) if one.answer is not None]
    for exchange in calls_of(trace, ENDLESS) if later else ():
        if exchange.answer is None:
            left = _left(trace, exchange.request.frame.channel, later[0].frames[-1].n)
            expected, observed = "the response to be closed by the client", "it was left open"
            yield observe(ROW, bool(left), exchange, *left, later[0], expected=expected, observed=observed)


def _left(trace: Trace, channel: str, until: int) -> list[Frame]:
    """Where the client closed a response in time: by its own end it closes all of them."""
    ends = (one for one in trace.frames[:until] if one.kind is Kind.END and one.channel == channel)
    return [one for one in ends if one.sender is Sender.SUBJECT]

"""A stream that broke off before the answer is gone on with, no sooner than the server said."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import endpoint_calls, is_over
from assay.lab.harness.check import check
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

BROKEN = "broken off"
"""The mark with the last event's id (`last`) and the delay in milliseconds that was asked for (`retry`)."""
TOLERANCE = 0.9
"""Of the delay: clocks differ."""


@check("A broken stream is gone on with", rows=("HTTP-24", "HTTP-26", "HTTP-34"), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for mark in trace.marks(BROKEN):
        back = [one for one in endpoint_calls(trace, "GET") if _comes_back(one, mark)]
        back.sort(key=lambda one: one.resumes is None)
        if back or is_over(trace):
            observed = "it did not come back"
            yield observe("HTTP-24", bool(back), mark, *back[:1], expected="a GET", observed=observed)
        for one in back[:1]:
            last = mark.info.get("last")
            expected, observed = f"Last-Event-ID: {last}", f"{one.resumes}"
            yield observe("HTTP-34", one.resumes == last, mark, one, expected=expected, observed=observed)
            yield _waited(trace, mark, one)


def _comes_back(call: Call, mark: Frame) -> bool:
    """Whether it may come for the rest: what opened before the break is for what belongs to no request."""
    return call.request.n > mark.n


def _waited(trace: Trace, mark: Frame, back: Call) -> Observation:
    end = next((one for one in trace.frames[mark.n :] if one.kind is Kind.END), mark)
    seconds, wanted = back.request.t - end.t, mark.info.get("retry", 0) / 1000
    expected, observed = f"to wait {wanted:g} s", f"{seconds:.3f} s"
    return observe("HTTP-26", seconds >= wanted * TOLERANCE, end, back, expected=expected, observed=observed)

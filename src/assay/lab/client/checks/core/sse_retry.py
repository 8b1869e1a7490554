"""A client that lost its stream comes back by GET: not before its time, and saying what it had heard last."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.fixtures.stream_break import BROKEN_AT, RETRY, TOOL
from assay.lab.client.owed import with_owed
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.verdict import Observation, observe

COMES_BACK = "client-sse-graceful-reconnect"
IN_TIME = "client-sse-retry-timing"
SAYS_WHERE = "client-sse-last-event-id"
EARLY = 50
"""Milliseconds before its time that are forgiven: the two clocks begin at different moments."""


@official_check("sse-retry", "The client comes back for the answer", rows=(COMES_BACK, IN_TIME, SAYS_WHERE))
def judge(trace: Trace) -> Iterator[Observation]:
    owed = {COMES_BACK: f"a call of {TOOL}, and a GET after its stream has ended"}
    yield from with_owed(trace, _seen(trace), owed)


def _seen(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        end = _end(call)
        if end is None or not any(one.params.get("name") == TOOL for one in call.asked):
            continue
        back = _return(trace, end)
        if back is None:
            yield observe(COMES_BACK, False, call, expected="a GET after the end", observed="none")
            return
        yield observe(COMES_BACK, True, call, back, expected="", observed="")
        yield _timing(end, back)
        told = f"Last-Event-ID {back.resumes!r}" if back.resumes else "no Last-Event-ID"
        expected = f"Last-Event-ID {BROKEN_AT!r}"
        yield observe(SAYS_WHERE, back.resumes == BROKEN_AT, back, expected=expected, observed=told)
        return


def _end(call: Call) -> Frame | None:
    """Where the host ended the response; none where the client left before."""
    ends = (one for one in call.received if one.kind is Kind.END and one.sender is Sender.DRIVER)
    return next((one for one in ends if one.info.get("clean")), None)


def _return(trace: Trace, end: Frame) -> Call | None:
    """The GET that comes for the answer. A client may listen for other things, too, and open that late."""
    later = [one for one in trace.calls if one.sent.method == "GET" and one.request.n > end.n]
    return next((one for one in later if one.resumes == BROKEN_AT), later[-1] if later else None)


def _timing(end: Frame, back: Call) -> Observation:
    waited = (back.request.t - end.t) * 1000
    expected = f"{RETRY} ms between the end of the stream and the GET"
    return observe(
        IN_TIME, waited >= RETRY - EARLY, end, back, expected=expected, observed=f"{waited:.0f} ms"
    )

"""A session that was ended is gone (404); a request that leaves its session out is a bad one (400)."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe


@check("Ended sessions get 404, missing ones 400", rows=("HTTP-40", "HTTP-41"), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    ended: set[str] = set()
    for call in trace.calls:
        if call.head is None:
            continue
        if call.session in ended:
            yield from _of_ended(call)
        elif call.session is None:
            yield from _of_none(call)
        elif call.sent.method == "DELETE" and 200 <= call.status < 300:
            ended.add(call.session)


def _of_ended(call: Call) -> Iterator[Observation]:
    # Where a server has no GET or DELETE at all, it says so whatever the session is.
    if call.sent.method == "POST" or call.status != 405:
        yield observe(
            "HTTP-41",
            call.status == 404,
            call,
            expected="status 404 for the session that DELETE ended",
            observed=f"status {call.status}",
        )


def _of_none(call: Call) -> Iterator[Observation]:
    requests = [one for one in call.asked if one.shape is Shape.REQUEST and one.method != "initialize"]
    # Only a server that refuses such a request requires a session.
    if requests and call.status >= 400:
        yield observe(
            "HTTP-40",
            call.status == 400,
            call,
            expected="status 400 for a request without a session id",
            observed=f"status {call.status}",
        )

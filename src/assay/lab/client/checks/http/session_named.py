"""Whoever was given a session names it in each later request."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import FIRST, describes_itself, endpoint_calls
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

SESSION = "mcp-session-id"


@check("Requests name their session", rows=("HTTP-38",), everywhere=True, transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    given = dict(issued(trace))
    for call in endpoint_calls(trace):
        known = [session for session, since in given.items() if since < call.request.n]
        if known and not opens(call) and not any(map(describes_itself, call.asked)):
            expected, observed = f"Mcp-Session-Id: {known[-1]}", f"{call.session}"
            yield observe("HTTP-38", call.session in known, call, expected=expected, observed=observed)


def opens(call: Call) -> bool:
    return any(one.method == FIRST for one in call.asked)


def issued(trace: Trace) -> Iterator[tuple[str, int]]:
    """Each session that was given, and the frame since when."""
    for call in endpoint_calls(trace, "POST"):
        session = call.head.get(SESSION) if call.head is not None and opens(call) else None
        if session is not None:
            yield session, call.received[0].n

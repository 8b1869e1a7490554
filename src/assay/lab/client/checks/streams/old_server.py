"""A server of the first transport is reached by its stream, and by the address that it tells there."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import endpoint_calls, is_over
from assay.lab.harness.check import check
from assay.lab.harness.links.http_text import EVENT_STREAM
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

MESSAGES = "/messages"
"""Where the old server takes messages."""
TOLD = b"event: endpoint"


@check("An old server is reached by its stream", rows=("SSE-03", "SSE-06"), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    told = next((one.n for one in trace.frames if one.raw.startswith(TOLD)), len(trace.frames))
    sent = [one for one in trace.calls if one.sent.method == "POST" and one.request.n > told]
    for call in sent:
        right, observed = _is_there(call), call.sent.target
        yield observe("SSE-03", right, call, expected=f"POST {MESSAGES}", observed=observed)
    # Who opens no stream does not want to reach old servers, and nobody has to.
    opened = _opened(trace)
    if opened is not None and (sent or is_over(trace)):
        reached = [one for one in sent if _is_there(one)]
        expected, observed = f"messages to {MESSAGES}, once the stream has named it", "none"
        yield observe("SSE-06", bool(reached), opened, *reached[:1], expected=expected, observed=observed)


def _opened(trace: Trace) -> Call | None:
    """The stream that the client asked for once its POST was refused."""
    refused = (one.request.n for one in endpoint_calls(trace, "POST") if 400 <= one.status < 500)
    since = next(refused, None)
    if since is None:
        return None
    asked = (one for one in endpoint_calls(trace, "GET") if EVENT_STREAM in (one.sent.get("accept") or ""))
    return next((one for one in asked if one.request.n > since), None)


def _is_there(call: Call) -> bool:
    return call.sent.target.endswith(MESSAGES)

"""An answer over HTTP is one JSON object, or an event stream of messages."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from assay.lab.harness.links.http_text import EVENT_STREAM, JSON
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ROW = "CONF-TPT-01.http.sse"
EXPECTED = f"one object as {JSON}, or messages as {EVENT_STREAM}"


@profile_check("Answers over HTTP", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        asks = any(one.shape is Shape.REQUEST for one in call.asked)
        if asks and call.sent.method == "POST" and call.status == 200:
            problem = _problem(call)
            yield observe(ROW, problem is None, call, expected=EXPECTED, observed=problem or "that")


def _problem(call: Call) -> str | None:
    assert call.head is not None
    kind = call.head.media_type
    if kind == JSON:
        return None if _is_object(call.body) else f"{call.body[:80]!r}"
    if kind != EVENT_STREAM:
        return f"Content-Type {kind or 'missing'}"
    bad = [event.data for _, event in call.events if event.data and not _is_object(event.data)]
    return f"an event with {bad[0][:80]!r}" if bad else None


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False

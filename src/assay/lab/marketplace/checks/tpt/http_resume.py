"""Who returns to a stream gets what was missed, once."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ROW = "CONF-TPT-01.http.resume"


@profile_check("Streams that are returned to", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    streams = [call for call in trace.calls if call.is_stream and call.sent.method == "POST"]
    for stream in streams:
        numbered = any(event.event_id for _, event in stream.events)
        if stream.events and not numbered:
            expected = "events with ids, to return to the stream by"
            yield observe(ROW, False, stream, expected=expected, observed="events without ids")
    homes = {event.event_id: stream for stream in streams for _, event in stream.events if event.event_id}
    for call in trace.calls:
        origin = homes.get(call.resumes or "")
        if origin is not None and call.head is not None:
            yield _resumed(origin, call)


def _resumed(origin: Call, call: Call) -> Observation:
    missed = [one for one in _told(origin, after=call.resumes)]
    got = _told(call)
    told = f"{len(got)} events" if call.is_stream else f"status {call.status}"
    strange = next((data for data in got if data not in missed), None)
    problem = told if strange is None else f"{strange[:80]!r}, which belongs elsewhere"
    return observe(
        ROW,
        call.is_stream and got == missed,
        origin,
        call,
        expected=f"just the {len(missed)} events after {call.resumes}, each once",
        observed=problem,
    )


def _told(call: Call, after: str | None = None) -> list[bytes]:
    """The messages on a stream, or those after an event."""
    found = [(event.event_id, event.data) for _, event in call.events]
    ids = [event_id for event_id, _ in found]
    begin = 0 if after is None else ids.index(after) + 1
    return [data for _, data in found[begin:] if data]

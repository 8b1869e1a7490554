"""A trace of live traffic, as the lab judges it: at the revision that was spoken, from either side.

Recordings only grow, so that nothing is lost when the recorder dies: what only becomes known later (the
agreed revision, the kind of HTTP transport, whether the end was seen) is read from the frames.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from assay.lab.harness.trace.agreement import spoken_revision
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.trace import Trace, events_of
from assay.lab.harness.trace.view import client_view
from assay.lab.harness.transport import Transport
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Opening

ENDED: Final = "tap ended"
"""Mark at the end of a trace; `continued` says whether another one follows."""
GAP: Final = "not recorded"
"""Mark in place of what passed and is not in the trace."""
STATE: Final = "tap/state"
CLIENT: Final = "-client"
_NAME: Final = re.compile(r"tap-[0-9]{1,9}(?:\.[0-9]{1,9})?")


def trace_name(number: int, part: int) -> str:
    """The scenario in the header of a trace: conversations and their parts are numbered from 1."""
    return f"tap-{number}" if part == 1 else f"tap-{number}.{part}"


def is_tapped(trace: Trace) -> bool:
    return _NAME.fullmatch(trace.header.scenario) is not None


def settled(trace: Trace) -> Trace:
    """The trace with a header that fits its frames."""
    transport = trace.transport
    if transport == Transport.HTTP and _has_message_endpoint(trace):
        transport = Transport.HTTP_SSE
    spoken = spoken_revision(trace)
    header = replace(
        trace.header,
        revision=spoken if spoken in BY_DATE else trace.header.revision,
        transport=transport,
        closed=any(trace.marks(ENDED)),
    )
    hidden = {mark.channel for mark in trace.marks(GAP) if mark.stream not in ("lines", "ws")}
    frames = [_hidden(frame) if frame.channel in hidden else frame for frame in trace.frames]
    return Trace(header, frames if hidden else trace.frames)


def _hidden(frame: Frame) -> Frame:
    """A frame of an exchange that is not complete in the trace, and so proves nothing."""
    return frame if frame.kind is Kind.MARK else replace(frame, kind=Kind.MARK, raw=b"", info={})


def _has_message_endpoint(trace: Trace) -> bool:
    return any(
        event.event == "endpoint"
        for frame in trace.frames
        if frame.kind is Kind.EVENT and frame.is_on_get
        for event in events_of(frame)
    )


def sides(trace: Trace) -> tuple[Trace, Trace]:
    """A settled trace as the lab sees the server, and as it sees the client."""
    client = client_view(trace, "a client")
    return trace, Trace(replace(client.header, scenario=trace.header.scenario + CLIENT), client.frames)


def unjudged(trace: Trace) -> str:
    """Why a settled trace cannot be judged; empty if it can."""
    exchanges = trace.all_exchanges
    if not trace.messages:
        return "no message passed"
    if not any(exchange.answers for exchange in exchanges):
        return "no request was answered"
    opening = trace.revision.opening
    if opening is Opening.PER_REQUEST and spoken_revision(trace) is None:
        return "the server answered no request of this revision with a result"
    is_http = trace.transport in (Transport.HTTP, Transport.HTTP_SSE)
    if opening is not Opening.PER_REQUEST and is_http and not any(trace.exchanges("initialize")):
        return "the conversation began before it was recorded"
    return ""

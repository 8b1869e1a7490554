"""Connections that a scenario sets apart: for malformed input, and for controls.

**Apart.** A server may treat a connection differently after input that it could not read: it may fall back to
an older revision, for example. So malformed input gets connections of its own, and what the server answers
there to the driver's own sentinels is not judged.

**Control.** Before a request with a peculiarity is held against a server, the same request without it is sent
on a new connection. If that fails likewise, the peculiarity is not the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from .frame import Frame, Kind
from .message import Message
from .trace import SENTINEL, Call, Exchange, Trace

APART: Final = "apart"
CONTROL: Final = "control"


def judged(trace: Trace) -> Trace:
    """The trace that checks read. On connections apart, answered sentinels are replaced by empty marks, so
    that frames keep their numbers. A sentinel without an answer remains: silence is a fault of its own."""
    apart = connections(trace, APART)
    if not apart:
        return trace
    hidden = {
        place
        for exchange in trace.all_exchanges
        if exchange.request.frame.connection in apart and exchange.answers and _is_sentinel(exchange.request)
        for place in _places(exchange)
    }
    frames = [
        replace(frame, kind=Kind.MARK, raw=b"", info={}) if _is_in(frame, hidden) else frame
        for frame in trace.frames
    ]
    return Trace(trace.header, frames)


def connections(trace: Trace, label: str) -> frozenset[str]:
    return frozenset(mark.connection for mark in trace.marks(label))


def fails_without(call: Call, trace: Trace) -> bool:
    """Whether the control of an HTTP request, which lacks only its peculiarity, is refused with the same
    status."""
    controls = connections(trace, CONTROL)
    return call.status >= 400 and any(
        other.request.connection in controls
        and other.sent.method == call.sent.method
        and _methods(other) == _methods(call)
        and other.status == call.status
        for other in trace.calls
    )


HEADERS: Final = ("origin", "host", "accept", "content-type", "mcp-protocol-version", "mcp-session-id")
"""Headers that a server may examine before it reads a body."""


def is_refused_for_header(call: Call, trace: Trace) -> bool:
    """Whether a refused HTTP request is answered when one of its headers differs."""
    return call.status >= 400 and any(
        _methods(other) == _methods(call)
        and 0 < other.status < 400
        and any(other.sent.get(name) != call.sent.get(name) for name in HEADERS)
        for other in trace.calls
    )


def _methods(call: Call) -> list[str]:
    return [message.method for message in call.request_messages]


def _is_sentinel(message: Message) -> bool:
    return isinstance(message.id, str) and message.id.startswith(SENTINEL)


def _places(exchange: Exchange) -> Iterator[int | str]:
    """Frame numbers; on HTTP, the channel of the request."""
    if exchange.request.frame.kind is Kind.REQUEST:
        yield exchange.request.frame.channel
    yield from (frame.n for frame in exchange.frames)


def _is_in(frame: Frame, places: set[int | str]) -> bool:
    return frame.n in places or frame.channel in places

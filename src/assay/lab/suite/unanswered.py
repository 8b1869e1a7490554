"""Requests without an answer, as far as the trace is certain about it, and HTTP responses without content."""

from __future__ import annotations

from typing import Final

from assay.lab.harness import Trace
from assay.lab.harness.links.http_text import EVENT_STREAM
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Call, Exchange
from assay.lab.harness.transport import Transport

BUSY: Final = frozenset({429, 503})
"""HTTP statuses that ask the client to come back later."""

WAITED: Final = "no answer within"
EXITED: Final = "the process exited"
CHANNEL_CLOSED: Final = "the connection was closed"


def unanswered(exchange: Exchange, trace: Trace) -> str | None:
    """Why a request certainly stays without an answer; None if it was answered or refused, or may still be.

    A connection that breaks off proves nothing on HTTP: a refusal may have been lost with it.
    """
    if exchange.answers or is_refused(exchange):
        return None
    request = exchange.request.frame
    for mark in trace.marks("no answer"):
        if mark.connection == request.connection and same_id(mark.info.get("id"), exchange.request.id):
            return f"{WAITED} {mark.info.get('waited')} s"
    later = [frame for frame in trace.frames[request.n + 1 :] if frame.channel == request.channel]
    if any(frame.kind is Kind.END and frame.sender is Sender.DRIVER for frame in later):
        return None
    if request.kind is not Kind.REQUEST:
        return _end_of_channel(later)
    # With HTTP+SSE, answers come on another channel.
    return _end_of_response(exchange, later) if trace.transport == Transport.HTTP else None


def is_refused(exchange: Exchange) -> bool:
    """Whether the HTTP status refuses the request, whatever the body contains."""
    return exchange.head is not None and exchange.head.status >= 400


def _end_of_response(exchange: Exchange, later: list[Frame]) -> str | None:
    """A whole response, which is not an event stream: a client can resume a stream."""
    ended = any(frame.kind is Kind.END and frame.info.get("clean") is True for frame in later)
    if not ended or exchange.head is None or exchange.head.media_type == EVENT_STREAM:
        return None
    return f"HTTP status {exchange.head.status} without an answer"


def _end_of_channel(later: list[Frame]) -> str | None:
    kinds = {frame.kind for frame in later}
    if Kind.EXIT in kinds:
        return EXITED
    return CHANNEL_CLOSED if Kind.END in kinds else None


def is_empty_success(call: Call) -> bool:
    """Whether a response has status 200 and no content."""
    ended = any(frame.kind is Kind.END and frame.info.get("clean") is True for frame in call.received)
    return call.status == 200 and ended and not call.body.strip()

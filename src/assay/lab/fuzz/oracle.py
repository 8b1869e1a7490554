"""The oracles: checks that apply to the trace of any case.

They expect little on purpose: reports about behaviour that the specification leaves open would make the
fuzzer useless. An answer is only required if the request is unambiguous (`ambiguity.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import Check, Judge, faults
from assay.lab.harness.subject.process import describe_exit
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.shape import driver_request_problem
from assay.lab.harness.trace.trace import Call, Exchange, Trace
from assay.lab.harness.transport import ANY, Transport
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INTERNAL_ERROR, METHOD_NOT_FOUND, PARSE_ERROR
from assay.protocol.framing import websocket as ws

from .ambiguity import CANCELLED, is_clear, is_declared, is_invalid_json, is_sentinel, needs_answer
from .case import KNOWN
from .conversation import MAY_RUN_LONG, MINE, NO_ANSWER, NOT_REACHED, OTHER

REFUSALS: Final = frozenset(
    {ws.PROTOCOL_ERROR, ws.UNSUPPORTED, ws.NOT_TEXT, ws.POLICY, ws.TOO_BIG, ws.NORMAL}
)
"""Close codes for a client that broke the protocol or exceeded a limit."""
SERVER_ERROR: Final = 500


def answered(trace: Trace) -> Iterator[Observation]:
    cancelled = any(message.method == CANCELLED for message in trace.messages)
    if cancelled or not is_clear(trace) or _is_lost(trace):
        return
    long_calls = _long_calls(trace)
    for exchange in _requests(trace):
        exempt = is_sentinel(exchange.request) or exchange.request.frame.n in long_calls
        if not exempt and not _is_refused(exchange) and not _is_resumable(exchange, trace):
            observed = _missing_answer(exchange) if exchange.answer is None else exchange
            expected = f"a response with id {exchange.request.id!r}"
            holds = exchange.answer is not None
            yield observe("FUZZ-01", holds, exchange, expected=expected, observed=observed)


def _long_calls(trace: Trace) -> frozenset[int]:
    """Frames with tool calls that may take any time."""
    return frozenset(mark.info.get("frame", -1) for mark in trace.marks(MAY_RUN_LONG))


def _is_busy(trace: Trace) -> bool:
    """Whether a tool still runs: a server without concurrency may not answer until it is done."""
    frames = _long_calls(trace)
    calls = [exchange for exchange in trace.exchanges() if exchange.request.frame.n in frames]
    return any(call.answer is None for call in calls)


def _requests(trace: Trace) -> Iterator[Exchange]:
    """Requests of the case that must be answered, without those that share an id."""
    exchanges = [
        exchange
        for exchange in trace.exchanges()
        if exchange.request.frame.connection == MINE and needs_answer(exchange.request)
    ]
    ids = [(type(exchange.request.id), exchange.request.id) for exchange in exchanges]
    for exchange, request_id in zip(exchanges, ids, strict=True):
        if ids.count(request_id) == 1:
            yield exchange


def _is_refused(exchange: Exchange) -> bool:
    """On HTTP a server may refuse a request with just a status."""
    return exchange.answer is None and exchange.head is not None and exchange.head.status >= 400


def _is_resumable(exchange: Exchange, trace: Trace) -> bool:
    """Whether the stream has event ids: a server may close such a stream before it has answered."""
    calls = [call for call in trace.calls if call.channel == exchange.request.frame.channel]
    return any(event.event_id is not None for call in calls for _, event in call.events)


def _missing_answer(exchange: Exchange) -> str:
    status = "" if exchange.head is None else f", HTTP {exchange.head.status}"
    return f"no answer to {exchange.method}{status}"


def goes_on(trace: Trace) -> Iterator[Observation]:
    """A session that hangs neither answers nor ends; the second connection shows whether others work."""
    if _is_lost(trace) or _is_busy(trace):
        return
    for exchange in trace.exchanges():
        if is_sentinel(exchange.request) and exchange.request.frame.connection == MINE:
            elsewhere = _elsewhere(trace)
            yield observe(
                "FUZZ-03",
                exchange.answer is not None,
                *_last_sent(trace),
                expected=f"an answer to {exchange.method} after it",
                observed=f"none{_waited(trace)}; {elsewhere}",
            )


def _waited(trace: Trace) -> str:
    mark = next(trace.marks(NO_ANSWER), None)
    return "" if mark is None else f" within {mark.info.get('waited'):g} s"


def _last_sent(trace: Trace) -> list[Frame]:
    return [frame for frame in trace.frames if frame.sender is Sender.DRIVER and frame.raw][-8:]


def _elsewhere(trace: Trace) -> str:
    others = [exchange for exchange in trace.exchanges() if exchange.request.frame.connection == OTHER]
    if not others:
        return "no second connection was tried"
    answered = all(exchange.answer is not None for exchange in others)
    return "other connections are served" if answered else "nor on a new connection"


def alive(trace: Trace) -> Iterator[Observation]:
    expected = "a server that keeps running"
    sent = _last_sent(trace)
    ends = [*_ends(trace)]
    for frame, how in ends:
        yield observe("FUZZ-02", False, *sent, frame, expected=expected, observed=how)
    if not ends:
        yield observe("FUZZ-02", True, *sent, expected=expected, observed="it keeps running")


def _ends(trace: Trace) -> Iterator[tuple[Frame, str]]:
    for frame in trace.frames:
        if frame.kind is Kind.EXIT:
            yield frame, describe_exit(frame.info.get("status", 0))
    for mark in trace.marks(NOT_REACHED):
        yield mark, f"the server cannot be reached: {mark.info.get('reason')}"
    if trace.transport == Transport.HTTP:
        for call in trace.calls:
            end = _cut_off(call)
            if end is not None:
                yield end, f"the response broke off: {end.info.get('problem')}"
    elif trace.transport == Transport.WEBSOCKET:
        yield from _closed_websocket(trace)
    elif trace.transport == Transport.HTTP_SSE:
        yield from ((frame, "the event stream ended") for frame in trace.frames if _is_end(frame))


def _cut_off(call: Call) -> Frame | None:
    ends = (frame for frame in call.received if frame.kind is Kind.END)
    return next((end for end in ends if not end.info.get("clean")), None)


def _closed_websocket(trace: Trace) -> Iterator[tuple[Frame, str]]:
    """A WebSocket that the server closed without a fault of the client."""
    frames = [frame for frame in trace.frames if frame.sender is Sender.SUBJECT and frame.connection == MINE]
    codes = [int.from_bytes(frame.raw[:2], "big") for frame in frames if frame.info.get("what") == "close"]
    closed_by_driver = any(_is_close(frame) for frame in trace.frames if frame.sender is Sender.DRIVER)
    for frame in frames:
        if frame.kind is Kind.END and not closed_by_driver and not REFUSALS.intersection(codes):
            yield frame, f"the WebSocket ended with code {codes[0] if codes else ws.LOST}"


def _is_close(frame: Frame) -> bool:
    return frame.kind is Kind.CONTROL and bool(frame.raw) and frame.raw[0] & 0xF == ws.CLOSE


def _is_end(frame: Frame) -> bool:
    """Whether the connection to the subject ends with the frame, and not just a POST of HTTP+SSE."""
    ends = frame.kind in (Kind.EXIT, Kind.END) and frame.stream != "post"
    return ends and frame.sender is Sender.SUBJECT and frame.connection == MINE


def _is_lost(trace: Trace) -> bool:
    """Whether the session ended early, so that missing answers are not separate findings."""
    ended = trace.transport != Transport.HTTP and any(map(_is_end, trace.frames))
    return ended or any(trace.marks(NOT_REACHED)) or any(map(_cut_off, trace.calls))


def codes(trace: Trace) -> Iterator[Observation]:
    yield from _parse_errors(trace)
    if not is_clear(trace):
        return
    for exchange in _requests(trace):
        answer = exchange.answer
        if answer is None or is_sentinel(exchange.request):
            continue
        if exchange.method not in KNOWN and _is_plain(exchange, trace):
            expected = f"error {METHOD_NOT_FOUND}"
            yield observe(
                "BASE-26", answer.code == METHOD_NOT_FOUND, exchange, expected=expected, observed=exchange
            )
        yield from _internal_errors(exchange, trace)


def _internal_errors(exchange: Exchange, trace: Trace) -> Iterator[Observation]:
    is_internal = exchange.code == INTERNAL_ERROR
    problem = driver_request_problem(exchange.request, trace.revision) if is_internal else None
    # A server need not read `_meta`, so it may not know about a problem there.
    wrong = problem is not None and not problem.startswith("params._meta")
    expected = f"an error other than {INTERNAL_ERROR}: {problem}"
    yield observe("FUZZ-04", not wrong, exchange, expected=expected, observed=exchange)


def _is_plain(exchange: Exchange, trace: Trace) -> bool:
    """Whether the request has no other fault that a server may report first: its HTTP head or its session."""
    if exchange.request.frame.kind is not Kind.REQUEST or not is_declared(trace):
        return is_declared(trace)
    sessions = {call.session for call in trace.calls[1:]}
    in_order = len(sessions) <= 1 and all(call.sent.method == "POST" for call in trace.calls)
    return in_order and exchange.head is not None and exchange.head.status in (200, 404)


def _parse_errors(trace: Trace) -> Iterator[Observation]:
    """If everything that was sent is invalid JSON, errors must say so. On HTTP they may be about the head."""
    if trace.transport == Transport.HTTP:
        return
    sent = [message for message in _of_case(trace) if not is_sentinel(message)]
    if not sent or not all(is_invalid_json(message.body) for message in sent):
        return
    for answer in trace.received:
        mine = answer.frame.connection == MINE and answer.frame.n > sent[0].frame.n
        if mine and answer.shape is Shape.ERROR and answer.id is None and "jsonrpc" in answer.fields:
            yield observe(
                "RPC-01",
                answer.code == PARSE_ERROR,
                *sent,
                answer,
                expected=f"error {PARSE_ERROR}",
                observed=answer,
            )


def _of_case(trace: Trace) -> list[Message]:
    """The messages of the driver after the opening of the session."""
    sent = [
        message for message in trace.messages if not message.by_subject and message.frame.connection == MINE
    ]
    opening = [message for message in sent if message.method in ("initialize", "notifications/initialized")]
    return sent[min(2, len(opening)) :]


def statuses(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.head is not None:
            yield observe(
                "FUZZ-04",
                call.status != SERVER_ERROR,
                call,
                expected="a status that describes the client's error",
                observed=f"HTTP {call.status}",
            )


def _check(name: str, title: str, requirements: tuple[str, ...], judge: Judge) -> Check:
    return Check(f"fuzz.{name}", title, faults(requirements), judge, everywhere=True, transports=ANY)


FIRST: Final = (
    _check("alive", "The server keeps running", ("FUZZ-02",), alive),
    _check("goes-on", "The session keeps working", ("FUZZ-03",), goes_on),
)
"""Reported before all others, which follow from them."""
LATER: Final = (
    _check("answered", "Requests are answered", ("FUZZ-01",), answered),
    _check("codes", "Errors have the right codes", ("BASE-26", "RPC-01", "FUZZ-04"), codes),
    _check("statuses", "Client errors are not answered with HTTP 500", ("FUZZ-04",), statuses),
)
"""Reported after the checks of the suite: a missing answer may have gone to another request."""
ORACLES: Final = FIRST + LATER

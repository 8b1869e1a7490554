"""What must hold in the trace of any case. Pure functions of it, like all checks.

Little is expected on purpose: a fuzzer that complains about what the specification leaves open is not used
twice. An answer is only owed to what nobody can read in two ways (`certainty.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import Check, Judge, faults
from assay.lab.harness.subject.process import how_it_ended
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.shape import asked_problem
from assay.lab.harness.trace.trace import Call, Exchange, Trace
from assay.lab.harness.transport import ANY, Transport
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INTERNAL_ERROR, METHOD_NOT_FOUND, PARSE_ERROR
from assay.protocol.framing import websocket as ws

from .case import KNOWN
from .certainty import CANCELLED, is_clear, is_declared, is_no_json, is_owed, is_sentinel
from .talk import AT_LEISURE, MINE, NO_ANSWER, NOT_REACHED, OTHER

REFUSALS: Final = frozenset(
    {ws.PROTOCOL_ERROR, ws.UNSUPPORTED, ws.NOT_TEXT, ws.POLICY, ws.TOO_BIG, ws.NORMAL}
)
"""With these a WebSocket is closed on a client that broke its rules or bounds."""
SERVER_ERROR: Final = 500


def answered(trace: Trace) -> Iterator[Observation]:
    if any(one.method == CANCELLED for one in trace.messages) or not is_clear(trace) or _is_lost(trace):
        return
    leisurely = _at_leisure(trace)
    for exchange in _asked(trace):
        spared = is_sentinel(exchange.request) or exchange.request.frame.n in leisurely
        if not spared and not _is_refused(exchange) and not _goes_on(exchange, trace):
            observed = _silence(exchange) if exchange.answer is None else exchange
            expected = f"a response with id {exchange.request.id!r}"
            holds = exchange.answer is not None
            yield observe("FUZZ-01", holds, exchange, expected=expected, observed=observed)


def _at_leisure(trace: Trace) -> frozenset[int]:
    """Frames that set a tool to work: it may take its time, and only its author knows how much."""
    return frozenset(one.info.get("frame", -1) for one in trace.marks(AT_LEISURE))


def _is_busy(trace: Trace) -> bool:
    """Whether a tool is still at work: a server that does one thing at a time may be silent until then."""
    frames = _at_leisure(trace)
    return any(one.answer is None for one in trace.exchanges() if one.request.frame.n in frames)


def _asked(trace: Trace) -> Iterator[Exchange]:
    """Requests of the case that are owed an answer. Of an id used twice nobody knows which is meant."""
    requests = [one for one in trace.exchanges() if one.request.frame.connection == MINE]
    ids = [(type(one.request.id), one.request.id) for one in requests if is_owed(one.request)]
    for one in requests:
        if is_owed(one.request) and ids.count((type(one.request.id), one.request.id)) == 1:
            yield one


def _is_refused(exchange: Exchange) -> bool:
    """HTTP may refuse a request with a status alone."""
    return exchange.answer is None and exchange.head is not None and exchange.head.status >= 400


def _goes_on(exchange: Exchange, trace: Trace) -> bool:
    """Whether its stream can be resumed: a server may close such a one before it has answered."""
    calls = [one for one in trace.calls if one.channel == exchange.request.frame.channel]
    return any(event.event_id is not None for one in calls for _, event in one.events)


def _silence(exchange: Exchange) -> str:
    status = "" if exchange.head is None else f", HTTP {exchange.head.status}"
    return f"no answer to {exchange.method}{status}"


def goes_on(trace: Trace) -> Iterator[Observation]:
    """A conversation that hangs: neither answers nor ends. A second connection tells how far that goes."""
    if _is_lost(trace) or _is_busy(trace):
        return
    for exchange in trace.exchanges():
        if is_sentinel(exchange.request) and exchange.request.frame.connection == MINE:
            elsewhere = _elsewhere(trace)
            said = [one for one in trace.frames if one.sender is Sender.DRIVER and one.raw]
            yield observe(
                "FUZZ-03",
                exchange.answer is not None,
                *said[-8:],
                expected=f"an answer to {exchange.method} after it",
                observed=f"none{_waited(trace)}; {elsewhere}",
            )


def _waited(trace: Trace) -> str:
    mark = next(trace.marks(NO_ANSWER), None)
    return "" if mark is None else f" within {mark.info.get('waited'):g} s"


def _elsewhere(trace: Trace) -> str:
    others = [one for one in trace.exchanges() if one.request.frame.connection == OTHER]
    if not others:
        return "nobody looked from outside"
    lives = all(one.answer is not None for one in others)
    return "other connections are served" if lives else "nor on a new connection"


def alive(trace: Trace) -> Iterator[Observation]:
    expected = "a server that goes on"
    said = [one for one in trace.frames if one.sender is Sender.DRIVER and one.raw][-8:]
    ends = [*_ends(trace)]
    for frame, how in ends:
        yield observe("FUZZ-02", False, *said, frame, expected=expected, observed=how)
    if not ends:
        yield observe("FUZZ-02", True, *said, expected=expected, observed="it does")


def _ends(trace: Trace) -> Iterator[tuple[Frame, str]]:
    for frame in trace.frames:
        if frame.kind is Kind.EXIT:
            yield frame, how_it_ended(frame.info.get("status", 0))
    for mark in trace.marks(NOT_REACHED):
        yield mark, f"the server is gone: {mark.info.get('reason')}"
    if trace.transport == Transport.HTTP:
        for call in trace.calls:
            end = _cut_off(call)
            if end is not None:
                yield end, f"the response broke off: {end.info.get('problem')}"
    elif trace.transport == Transport.WEBSOCKET:
        yield from _hung_up(trace)
    elif trace.transport == Transport.HTTP_SSE:
        ends = (one for one in trace.frames if _is_end(one))
        yield from ((one, "the event stream ended") for one in ends)


def _cut_off(call: Call) -> Frame | None:
    return next((one for one in call.received if one.kind is Kind.END and not one.info.get("clean")), None)


def _hung_up(trace: Trace) -> Iterator[tuple[Frame, str]]:
    """A WebSocket that the server closed without a reason that a client can have given."""
    closes = [
        int.from_bytes(one.raw[:2], "big")
        for one in trace.frames
        if one.sender is Sender.SUBJECT and one.info.get("what") == "close" and one.connection == MINE
    ]
    closed_by_driver = any(_is_close(one) for one in trace.frames if one.sender is Sender.DRIVER)
    for frame in trace.frames:
        ended = frame.kind is Kind.END and frame.sender is Sender.SUBJECT and frame.connection == MINE
        if ended and not closed_by_driver and not REFUSALS.intersection(closes):
            yield frame, f"the WebSocket ended with code {closes[0] if closes else ws.LOST}"


def _is_close(frame: Frame) -> bool:
    return frame.kind is Kind.CONTROL and bool(frame.raw) and frame.raw[0] & 0xF == ws.CLOSE


def _is_end(frame: Frame) -> bool:
    """Whether the subject's side of the conversation ends with it; a POST of the two endpoints just ends."""
    ends = frame.kind in (Kind.EXIT, Kind.END) and "/post-" not in frame.channel
    return ends and frame.sender is Sender.SUBJECT and frame.connection == MINE


def _is_lost(trace: Trace) -> bool:
    """Whether the conversation ended before its time: then silence is no finding of its own."""
    ended = trace.transport != Transport.HTTP and any(_is_end(one) for one in trace.frames)
    return ended or any(trace.marks(NOT_REACHED)) or any(_cut_off(one) for one in trace.calls)


def codes(trace: Trace) -> Iterator[Observation]:
    yield from _parse_errors(trace)
    if not is_clear(trace):
        return
    for exchange in _asked(trace):
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
    problem = asked_problem(exchange.request, trace.revision) if is_internal else None
    # Who does not look into `_meta` has not seen that problem.
    wrong = problem is not None and not problem.startswith("params._meta")
    expected = f"an error other than {INTERNAL_ERROR}: {problem}"
    yield observe("FUZZ-04", not wrong, exchange, expected=expected, observed=exchange)


def _is_plain(exchange: Exchange, trace: Trace) -> bool:
    """Whether nothing else is wrong with it that a server may see first: on HTTP, its head or its session."""
    if exchange.request.frame.kind is not Kind.REQUEST or not is_declared(trace):
        return is_declared(trace)
    sessions = {one.session for one in trace.calls[1:]}
    in_order = len(sessions) <= 1 and all(one.sent.method == "POST" for one in trace.calls)
    return in_order and exchange.head is not None and exchange.head.status in (200, 404)


def _parse_errors(trace: Trace) -> Iterator[Observation]:
    """Where all that was said is no JSON, an error means that. HTTP also has heads to complain about."""
    if trace.transport == Transport.HTTP:
        return
    said = [one for one in _of_case(trace) if not is_sentinel(one)]
    if not said or not all(is_no_json(one.body) for one in said):
        return
    for answer in trace.received:
        mine = answer.frame.connection == MINE and answer.frame.n > said[0].frame.n
        if mine and answer.shape is Shape.ERROR and answer.id is None and "jsonrpc" in answer.fields:
            yield observe(
                "RPC-01",
                answer.code == PARSE_ERROR,
                *said,
                answer,
                expected=f"error {PARSE_ERROR}",
                observed=answer,
            )


def _of_case(trace: Trace) -> list[Message]:
    """What the driver said on its connection after the opening."""
    mine = [one for one in trace.messages if not one.by_subject and one.frame.connection == MINE]
    opened = [
        place for place, one in enumerate(mine) if one.method in ("initialize", "notifications/initialized")
    ]
    return mine[min(2, len(opened)) :]


def statuses(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.head is not None:
            yield observe(
                "FUZZ-04",
                call.status != SERVER_ERROR,
                call,
                expected="a status that tells what the client did wrong",
                observed=f"HTTP {call.status}",
            )


def _check(name: str, title: str, requirements: tuple[str, ...], judge: Judge) -> Check:
    return Check(f"fuzz.{name}", title, faults(requirements), judge, everywhere=True, transports=ANY)


FIRST: Final = (
    _check("alive", "The server is still there", ("FUZZ-02",), alive),
    _check("goes-on", "The conversation goes on", ("FUZZ-03",), goes_on),
)
"""Where the server is gone, or hangs, all else follows from that."""
LATER: Final = (
    _check("answered", "Requests are answered", ("FUZZ-01",), answered),
    _check("codes", "Errors say what is wrong", ("BASE-26", "RPC-01", "FUZZ-04"), codes),
    _check("statuses", "HTTP does not call a client's fault the server's", ("FUZZ-04",), statuses),
)
"""An answer that does not come may have come to somebody else: that is told first."""
ORACLES: Final = FIRST + LATER

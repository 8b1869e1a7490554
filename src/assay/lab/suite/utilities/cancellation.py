"""Cancellation of requests, in time and too late, by client and server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    check,
    observe,
    on_call,
    on_reply,
    on_request,
    scenario,
    scripted,
)
from assay.lab.harness.driver.choice import A_SAFE_REQUEST, SafeRequest, safe_requests_for
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.driver.peer import Peer, Pending
from assay.lab.harness.links.http import HttpLink
from assay.lab.harness.links.http_text import EVENT_STREAM, parse_head
from assay.lab.harness.sabotage.saboteur import Conversation, LocalAnswer, params_of
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.order import is_answered_before
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import STDIO_ONLY
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS
from assay.revisions.revision import Asking, Revision

# --- what is asked


ATTEMPTS = 5
"""To cancel work in time that reports progress, so that there is time."""


@scenario(
    "Work that is cancelled",
    exercises=("utilities.cancelled-request", "utilities.own-cancellation", "utilities.late-cancellation"),
    needs=(A_SAFE_REQUEST,),
)
async def drive_cancelled_work(stage: Stage) -> None:
    peer = await stage.open()
    async with peer.probe("cancellation"):
        kept = [
            again for errand in safe_requests_for(stage.facts) for again in await _cancelled(peer, errand)
        ]
        for pending in kept:
            await peer.answer(pending)


async def _cancelled(peer: Peer, errand: SafeRequest) -> list[Pending]:
    """Begin and cancel until it was in time, or turns out too fast for that; the same work, not cancelled."""
    kept: list[Pending] = []
    for _ in range(ATTEMPTS):
        token = f"token of {peer.next_id()}"
        work = await errand.start(peer, {"progressToken": token})
        # Two HTTP requests may overtake each other: only progress shows that the first has arrived.
        report = await _report(peer, work, token) if isinstance(peer.link, HttpLink) else None
        await _cancel(peer, work)
        kept.append(await errand.start(peer))
        await peer.sentinel()
        if not work.over.done() or (report or await _report(peer, work, token)) is None:
            break
    return kept


async def _report(peer: Peer, work: Pending, token: str) -> Message | None:
    return await peer.wait_for("notifications/progress", during=work, progressToken=token)


async def _cancel(peer: Peer, work: Pending) -> None:
    if isinstance(peer.link, HttpLink) and peer.revision.http.disconnect_cancels and work.sent is not None:
        await peer.link.abort(work.sent)
    else:
        await peer.notify("notifications/cancelled", {"requestId": work.id, "reason": "not needed"})


DONE = "done already"
ODD: dict[str, Any] = {
    "comes after the answer": {"requestId": DONE},
    "names a request that was never sent": {"requestId": "never sent"},
    "names no request": {"reason": "none in particular"},
    "names a request by an object": {"requestId": {"id": DONE}},
    "has no parameters": None,
}


@scenario(
    "Cancellations that mean nothing",
    exercises=("utilities.odd-cancellation", "utilities.late-cancellation", "utilities.own-cancellation"),
)
async def drive_odd_cancellations(stage: Stage) -> None:
    peer = await stage.open()
    harmless = "ping" if "ping" in stage.revision.requests else "server/discover"
    await peer.request(harmless, request_id=DONE)
    for what, params in ODD.items():
        async with peer.probe("odd cancellation", what=what):
            await peer.notify("notifications/cancelled", params)


# --- how it is judged


@check("A cancelled request is not answered", requirements=("CAN-06",))
def judge_cancelled_request(trace: Trace) -> Iterator[Observation]:
    for message in trace.messages:
        if message.by_subject or message.method != "notifications/cancelled":
            continue
        exchange = _cancelled_request_cancelled(message, trace)
        if exchange is not None and _can_be_known(exchange):
            yield from _judge(exchange, message, trace)


def _judge(exchange: Exchange, cancellation: Message, trace: Trace) -> Iterator[Observation]:
    alike = [one for one in _alike(exchange, trace) if one.result is not None]
    answer = exchange.answer
    if answer is None:
        # One like it, begun later, was answered since: this one would have been too.
        done = any(one.answer is not None and _was_settled(one.answer, trace) for one in alike)
        holds = True if done else None
    elif _was_heard(cancellation, answer, trace):
        holds = False
    else:
        # Too fast to tell, unless the answer is about the cancellation itself.
        holds = False if answer.shape is Shape.ERROR and alike else None
    if holds is not None:
        yield observe(
            "CAN-06",
            holds,
            exchange,
            cancellation,
            expected="no response to a request that was cancelled (unless it cannot be)",
            observed=exchange,
        )


def _cancelled_request_cancelled(cancellation: Message, trace: Trace) -> Exchange | None:
    """The request that was meant, if it was sent and not answered before."""
    return next(
        (
            one
            for one in trace.exchanges()
            if one.request.frame.connection == cancellation.frame.connection
            and one.request.frame.n < cancellation.frame.n
            and same_id(one.request.id, cancellation.params.get("requestId"))
            and not is_answered_before(one, cancellation)
        ),
        None,
    )


def _can_be_known(exchange: Exchange) -> bool:
    """Over HTTP a cancellation finds its request by the session."""
    frame = exchange.request.frame
    return frame.kind is not Kind.REQUEST or parse_head(frame.raw).get("mcp-session-id") is not None


def _alike(exchange: Exchange, trace: Trace) -> Iterator[Exchange]:
    """Requests for the same, sent while this one ran."""
    for one in trace.exchanges(exchange.method):
        later = one.request.frame.n > exchange.request.frame.n
        same = one.params.get("name") == exchange.params.get("name")
        if later and same and one.request.frame.connection == exchange.request.frame.connection:
            yield one


def _was_heard(cancellation: Message, answer: Message, trace: Trace) -> bool:
    """Whether something that was asked after the cancellation was answered before this answer came."""
    return any(
        one.request.frame.n > cancellation.frame.n and is_answered_before(one, answer)
        for one in trace.exchanges()
        if one.request.frame.connection == cancellation.frame.connection
    )


def _was_settled(answer: Message, trace: Trace) -> bool:
    """Whether something that was asked after this answer was answered too."""
    return any(
        one.request.frame.n > answer.frame.n and one.answer is not None
        for one in trace.exchanges()
        if one.request.frame.connection == answer.frame.connection
    )


CANCELLED = "notifications/cancelled"
LISTEN = "subscriptions/listen"


@check("A server cancels only what is its own", requirements=("CAN-01", "CAN-12", "CAN-13"), everywhere=True)
def judge_own_cancellation(trace: Trace) -> Iterator[Observation]:
    asks = trace.revision.asking is Asking.BY_REQUEST
    row, own = ("CAN-01", _asked_itself) if asks else ("CAN-13", _listening)
    for message in trace.received:
        if message.method == CANCELLED:
            yield observe(
                row,
                own(message, trace),
                message,
                expected="a request of its own" if asks else "a listen stream that it ends",
                observed=f"cancelled {message.params.get('requestId')!r}",
            )
    for probe in trace.probes("cancellation"):
        if not any(one.method == CANCELLED for one in probe.received):
            yield observe(row, True, probe, expected="no cancellation in return", observed="none")
    yield from _ends(trace)


def _asked_itself(message: Message, trace: Trace) -> bool:
    return any(
        one.shape is Shape.REQUEST
        and one.frame.connection == message.frame.connection
        and same_id(one.id, message.params.get("requestId"))
        for one in trace.received
        if one.frame.n < message.frame.n
    )


def _listening(message: Message, trace: Trace) -> bool:
    return any(
        same_id(one.request.id, message.params.get("requestId"))
        for one in trace.exchanges(LISTEN)
        if one.request.frame.connection == message.frame.connection
    )


def _ends(trace: Trace) -> Iterator[Observation]:
    """Listen streams that the server closed in order, having served them. Either way to say so is good."""
    for call in trace.calls:
        listening = [one for one in call.request_messages if one.method == LISTEN]
        ended = any(frame.kind is Kind.END and frame.info.get("clean") is True for frame in call.received)
        if listening and call.is_stream and ended and call.messages:
            told = any(one.method == CANCELLED or one.is_response for one in call.messages)
            expected = "`notifications/cancelled` or a result before a listen stream ends"
            yield observe("CAN-12", told, call, expected=expected, observed="it ended without a word")


HARMLESS = ("ping", "server/discover")
"""Requests that any server answers with a result."""


@check("A late cancellation does no harm", requirements=("CAN-08",))
def judge_late_cancellation(trace: Trace) -> Iterator[Observation]:
    for message in trace.messages:
        if not message.by_subject and message.method == "notifications/cancelled":
            exchange = _completed(message, trace)
            if exchange is not None:
                yield from _late_cancellation_judge(exchange, message, trace)


def _completed(cancellation: Message, trace: Trace) -> Exchange | None:
    """The request that was meant, if its answer was there before."""
    return next(
        (
            one
            for one in trace.exchanges()
            if one.request.frame.connection == cancellation.frame.connection
            and same_id(one.request.id, cancellation.params.get("requestId"))
            and is_answered_before(one, cancellation)
        ),
        None,
    )


def _late_cancellation_judge(
    exchange: Exchange, cancellation: Message, trace: Trace
) -> Iterator[Observation]:
    again = [one for one in exchange.answers if one.frame.n > cancellation.frame.n]
    expected = "no second answer to a request that was cancelled too late"
    yield observe(
        "CAN-08", not again, exchange, cancellation, expected=expected, observed="a second answer to it"
    )
    here = cancellation.frame
    later = (
        one
        for one in trace.exchanges(*HARMLESS)
        if one.request.frame.connection == here.connection and one.request.frame.n > here.n
    )
    following = next(later, None)
    if following is not None and (following.answer is not None or _was_awaited(following, trace)):
        yield observe(
            "CAN-08",
            following.result is not None,
            cancellation,
            following,
            expected="the next request answered as usual",
            observed=following,
        )


def _was_awaited(exchange: Exchange, trace: Trace) -> bool:
    """Whether the driver waited for the answer in vain, or was hung up on."""
    unanswered = any(same_id(mark.info.get("id"), exchange.request.id) for mark in trace.marks("no answer"))
    asked = exchange.request.frame
    hung_up = any(
        frame.kind in (Kind.END, Kind.EXIT) and frame.sender is Sender.SUBJECT and frame.n > asked.n
        for frame in trace.frames
        if frame.channel == asked.channel
    )
    return unanswered or hung_up


@check("Odd cancellations are ignored", requirements=("CAN-09",))
def judge_odd_cancellation(trace: Trace) -> Iterator[Observation]:
    # HTTP has a status for what it does not take: a body that goes with it answers the request around.
    refused = {call.channel for call in trace.calls if call.status >= 400}
    for probe in trace.probes("odd cancellation"):
        answers = [one for one in probe.answers if one.frame.channel not in refused]
        yield observe(
            "CAN-09",
            not answers,
            probe,
            expected=f"silence: the cancellation {probe.info.get('what')}",
            observed=answers[0] if answers else "silence",
        )


# --- what the checks must catch


@on_request("a cancelled request is answered with an error", breaks="CAN-06", transports=STDIO_ONLY)
def cancelled_error(message: Json, context: FaultContext) -> Json | LocalAnswer:
    cancelled = params_of(message).get("requestId")
    if message.get("method") != "notifications/cancelled" or cancelled is None:
        return message
    error = {"code": 0, "message": "Request cancelled"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": cancelled, "error": error}])


@on_request(
    "a cancelled request is answered all the same",
    breaks="CAN-06",
    window=lambda revision: not revision.http.disconnect_cancels,
)
def deaf_to_cancellation(message: Json, context: FaultContext) -> Json | LocalAnswer:
    return LocalAnswer([]) if message.get("method") == "notifications/cancelled" else message


@on_request(
    "the server cancels a request of its client",
    breaks="CAN-01",
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
def echoes_cancellation(message: Json, context: FaultContext) -> Json | LocalAnswer:
    return LocalAnswer([message]) if message.get("method") == "notifications/cancelled" else message


@on_call("a listen stream ends without a word", breaks="CAN-12")
def listening_ends(request: Request, context: FaultContext) -> Response | None:
    if context.method != "subscriptions/listen" or context.request is None:
        return None
    meta = {SUBSCRIPTION_KEY: context.request["id"]}
    method = "notifications/subscriptions/acknowledged"
    params = {"_meta": meta, "notifications": context.params["notifications"]}
    event = msgspec.json.encode({"jsonrpc": "2.0", "method": method, "params": params})
    return Response([("Content-Type", EVENT_STREAM)], 200, b"data: %b\n\n" % event)


@on_reply("the server sends a cancellation for a tool call", breaks="CAN-13", scenario="utilities.working")
def cancels_failures(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "tools/call" and reply.get("result", {}).get("isError"):
        params = {"requestId": reply["id"], "reason": "failed"}
        return [{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}, reply]
    return [reply]


@on_request("after a late cancellation the next request fails", breaks="CAN-08")
def cancels_the_next(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") == "notifications/cancelled":
        context.memory["waiting"] = True
    if "id" not in message or not context.memory.pop("waiting", False):
        return message
    error = {"code": INTERNAL_ERROR, "message": "cancelled"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "error": error}])


@scripted("a late cancellation ends the server", breaks="CAN-08", scenario="utilities.odd-cancellations")
async def dies_of_cancellation(conversation: Conversation, revision: Revision) -> None:
    while (message := await conversation.receive()) is not None:
        if message.get("method") == "notifications/cancelled":
            return
        if "id" in message:
            result = RESULTS.get(message["method"], {})
            conversation.send({"jsonrpc": "2.0", "id": message["id"], "result": result})


RESULTS = {"initialize": {"capabilities": {}, "serverInfo": {"name": "frail", "version": "1"}}}


@on_request("a malformed cancellation is answered with an error", breaks="CAN-09")
def malformed_cancellation_error(message: Json, context: FaultContext) -> Json | LocalAnswer:
    named = params_of(message).get("requestId")
    if message.get("method") != "notifications/cancelled" or isinstance(named, int | str):
        return message
    error = {"code": INVALID_PARAMS, "message": "requestId: Field required"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": None, "error": error}])


@on_request("cancelling an unknown request is answered with an error", breaks="CAN-09")
def unknown_cancellation_error(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") != "notifications/cancelled":
        context.memory[repr(message.get("id"))] = True
        return message
    named = params_of(message).get("requestId")
    if not isinstance(named, int | str) or repr(named) in context.memory:
        return message
    error = {"code": INVALID_PARAMS, "message": "no such request"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": None, "error": error}])

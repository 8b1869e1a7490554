"""Cancellation of requests, in time and too late, by client and server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    check,
    error_reply,
    observe,
    on_call,
    on_reply,
    on_request,
    result_reply,
    scenario,
    scripted,
)
from assay.lab.harness.driver.cancellation import CANCELLED, cancel
from assay.lab.harness.driver.choice import A_SAFE_REQUEST, SafeRequest, safe_requests_for, slowest_calls
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.driver.peer import Peer, Pending
from assay.lab.harness.links.http import HttpLink
from assay.lab.harness.sabotage.saboteur import Conversation, LocalAnswer, params_of
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.order import is_answered_before
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.suite.event_stream import stream
from assay.lab.suite.subscription import ACKNOWLEDGED, LISTEN
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS
from assay.revisions.revision import Asking, Revision

# --- what is asked


ATTEMPTS: Final = 5
"""How often a request that reports progress is sent, to cancel it before its answer."""


@scenario(
    "Cancel requests while they run",
    exercises=("utilities.cancelled-request", "utilities.own-cancellation", "utilities.late-cancellation"),
    needs=(A_SAFE_REQUEST,),
)
async def drive_cancelled_work(stage: Stage) -> None:
    peer = await stage.open()
    async with peer.probe("cancellation"):
        slowest = slowest_calls(stage.facts)
        others = [safe for safe in safe_requests_for(stage.facts) if safe not in slowest]
        twins = [twin for safe in (*slowest, *others) for twin in await _cancel_in_time(stage, peer, safe)]
        for twin in twins:
            await peer.answer(twin)


async def _cancel_in_time(stage: Stage, peer: Peer, safe: SafeRequest) -> list[Pending]:
    """Send and cancel a request until the cancellation came in time, or the request is too fast for that.

    Returns the same requests, sent again and not cancelled.
    """
    twins: list[Pending] = []
    if stage.facts.is_slow(safe.params):
        # Its answer does not come soon, so that no cancellation is late, and no twin could be waited for.
        pending = await safe.start(peer)
        await peer.sentinel()
        await cancel(peer, pending)
        await peer.sentinel()
        return []
    for _ in range(ATTEMPTS):
        token = f"token of {peer.next_id()}"
        pending = await safe.start(peer, {"progressToken": token})
        # Two HTTP requests may overtake each other: only progress shows that the first has arrived.
        progress = await _progress(peer, pending, token) if isinstance(peer.link, HttpLink) else None
        await cancel(peer, pending)
        twins.append(await safe.start(peer))
        await peer.sentinel()
        if not pending.over.done() or (progress or await _progress(peer, pending, token)) is None:
            break
    return twins


async def _progress(peer: Peer, pending: Pending, token: str) -> Message | None:
    return await peer.wait_for("notifications/progress", during=pending, progressToken=token)


DONE: Final = "done already"
ODD: Final[dict[str, Any]] = {
    "comes after the answer": {"requestId": DONE},
    "names a request that was never sent": {"requestId": "never sent"},
    "names no request": {"reason": "none in particular"},
    "names a request by an object": {"requestId": {"id": DONE}},
    "has no parameters": None,
}


@scenario(
    "Send cancellations that name no running request",
    exercises=("utilities.odd-cancellation", "utilities.late-cancellation", "utilities.own-cancellation"),
)
async def drive_odd_cancellations(stage: Stage) -> None:
    peer = await stage.open()
    harmless = "ping" if "ping" in stage.revision.requests else "server/discover"
    await peer.request(harmless, request_id=DONE)
    for description, params in ODD.items():
        async with peer.probe("odd cancellation", what=description):
            await peer.notify(CANCELLED, params)


# --- how it is judged


def _cancellations(trace: Trace, *, late: bool) -> Iterator[tuple[Message, Exchange]]:
    """The driver's cancellations of a request that was already answered, or of one that was not."""
    for message in trace.messages:
        if not message.by_subject and message.method == CANCELLED:
            for exchange in _beside(message, trace):
                named = same_id(exchange.request.id, message.params.get("requestId"))
                earlier = exchange.request.frame.n < message.frame.n
                if named and earlier and is_answered_before(exchange, message) is late:
                    yield message, exchange
                    break


def _beside(message: Message, trace: Trace, *methods: str) -> Iterator[Exchange]:
    """The exchanges of these methods, or all, on the connection of a message."""
    connection = message.frame.connection
    return (each for each in trace.exchanges(*methods) if each.request.frame.connection == connection)


@check("A cancelled request is not answered", requirements=("CAN-06",))
def judge_cancelled_request(trace: Trace) -> Iterator[Observation]:
    for cancellation, exchange in _cancellations(trace, late=False):
        if exchange.in_session and _is_conclusive(exchange, cancellation, trace):
            expected = "no response to a cancelled request, unless it cannot be cancelled"
            holds = exchange.answer is None
            yield observe("CAN-06", holds, exchange, cancellation, expected=expected, observed=exchange)


def _is_conclusive(exchange: Exchange, cancellation: Message, trace: Trace) -> bool:
    """Whether the answer, or its absence, shows how the server treated the cancellation."""
    begin = exchange.request.frame.n
    twins = [
        twin
        for twin in _beside(exchange.request, trace, exchange.method)
        if twin.request.frame.n > begin and twin.params.get("name") == exchange.params.get("name")
    ]
    answers = [twin.answer for twin in twins if twin.result is not None and twin.answer is not None]
    if exchange.answer is None:
        # A twin that began later is done, and so is a request after it: this one would be done, too.
        return any(
            later.request.frame.n > answer.frame.n and later.answer is not None
            for answer in answers
            for later in _beside(answer, trace)
        )
    # An answer may have crossed the cancellation, unless it came after the answer to a later request.
    processed = any(
        later.request.frame.n > cancellation.frame.n and is_answered_before(later, exchange.answer)
        for later in _beside(cancellation, trace)
    )
    # An error is about the cancellation, if a twin succeeded.
    return processed or (exchange.answer.shape is Shape.ERROR and bool(answers))


@check(
    "A server cancels only its own requests and streams",
    requirements=("CAN-01", "CAN-12", "CAN-13"),
    everywhere=True,
)
def judge_own_cancellation(trace: Trace) -> Iterator[Observation]:
    by_request = trace.revision.asking is Asking.BY_REQUEST
    requirement, is_own = ("CAN-01", _is_own_request) if by_request else ("CAN-13", _is_listen_stream)
    expected = "a cancellation of the server's request" if by_request else "a cancellation of a listen stream"
    for message in trace.received:
        if message.method == CANCELLED:
            observed = f"cancelled {message.params.get('requestId')!r}"
            yield observe(requirement, is_own(message, trace), message, expected=expected, observed=observed)
    for probe in trace.probes("cancellation"):
        if not any(message.method == CANCELLED for message in probe.received):
            yield observe(requirement, True, probe, expected="no cancellation in return", observed="none")
    yield from _judge_ended_streams(trace)


def _is_own_request(cancellation: Message, trace: Trace) -> bool:
    return any(
        message.shape is Shape.REQUEST
        and message.frame.connection == cancellation.frame.connection
        and same_id(message.id, cancellation.params.get("requestId"))
        for message in trace.received
        if message.frame.n < cancellation.frame.n
    )


def _is_listen_stream(cancellation: Message, trace: Trace) -> bool:
    name = cancellation.params.get("requestId")
    return any(same_id(exchange.request.id, name) for exchange in _beside(cancellation, trace, LISTEN))


def _judge_ended_streams(trace: Trace) -> Iterator[Observation]:
    """Listen streams that the server closed in order: a cancellation or a result announces the end."""
    for call in trace.calls:
        listens = any(message.method == LISTEN for message in call.request_messages)
        ended = any(frame.kind is Kind.END and frame.info.get("clean") is True for frame in call.received)
        if listens and call.is_stream and ended and call.messages:
            announced = any(message.method == CANCELLED or message.is_response for message in call.messages)
            expected = "`notifications/cancelled` or a result before a listen stream ends"
            yield observe("CAN-12", announced, call, expected=expected, observed="the stream just ended")


HARMLESS: Final = ("ping", "server/discover")
"""Requests that any server answers with a result."""


@check(
    "A late cancellation does no harm",
    requirements={"CAN-08": "A late cancellation got a second answer or disturbed the next request"},
)
def judge_late_cancellation(trace: Trace) -> Iterator[Observation]:
    for cancellation, exchange in _cancellations(trace, late=True):
        end = cancellation.frame.n
        again = [answer for answer in exchange.answers if answer.frame.n > end]
        expected, observed = "no second answer after a late cancellation", "a second answer"
        yield observe("CAN-08", not again, exchange, cancellation, expected=expected, observed=observed)
        later = (each for each in _beside(cancellation, trace, *HARMLESS) if each.request.frame.n > end)
        following = next(later, None)
        if following is not None and (following.answer is not None or _was_awaited(following, trace)):
            holds, expected = following.result is not None, "the next request answered as usual"
            yield observe("CAN-08", holds, cancellation, following, expected=expected, observed=following)


def _was_awaited(exchange: Exchange, trace: Trace) -> bool:
    """Whether the driver waited for the answer in vain, or the subject disconnected."""
    unanswered = any(same_id(mark.info.get("id"), exchange.request.id) for mark in trace.marks("no answer"))
    request = exchange.request.frame
    return unanswered or any(
        frame.kind in (Kind.END, Kind.EXIT) and frame.sender is Sender.SUBJECT and frame.n > request.n
        for frame in trace.frames
        if frame.channel == request.channel
    )


@check(
    "Cancellations of no running request are ignored",
    requirements={"CAN-09": "A cancellation of no running request was answered"},
)
def judge_odd_cancellation(trace: Trace) -> Iterator[Observation]:
    # An HTTP error status may come with a body, which then is not an answer to the cancellation.
    refused = {call.channel for call in trace.calls if call.status >= 400}
    for probe in trace.probes("odd cancellation"):
        answers = [answer for answer in probe.answers if answer.frame.channel not in refused]
        expected = f"no answer: the cancellation {probe.info.get('what')}"
        observed = answers[0] if answers else "no answer"
        yield observe("CAN-09", not answers, probe, expected=expected, observed=observed)


# --- what the checks must catch


def _is_cancellation(message: Json) -> bool:
    return message.get("method") == CANCELLED


@on_request("answers a cancelled request with an error", breaks="CAN-06", transports=STDIO_ONLY)
def cancelled_error(message: Json, context: FaultContext) -> Json | LocalAnswer:
    name = params_of(message).get("requestId")
    if not _is_cancellation(message) or name is None:
        return message
    return LocalAnswer([error_reply({"id": name}, 0, "Request cancelled")])


@on_request(
    "ignores cancellations",
    breaks="CAN-06",
    window=lambda revision: not revision.http.disconnect_cancels,
)
def deaf_to_cancellation(message: Json, context: FaultContext) -> Json | LocalAnswer:
    return LocalAnswer([]) if _is_cancellation(message) else message


@on_request(
    "cancels a request of its client",
    breaks="CAN-01",
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
def echoes_cancellation(message: Json, context: FaultContext) -> Json | LocalAnswer:
    return LocalAnswer([message]) if _is_cancellation(message) else message


@on_call("ends a listen stream without an announcement", breaks="CAN-12")
def listening_ends(request: Request, context: FaultContext) -> Response | None:
    if context.method != LISTEN or context.request is None:
        return None
    meta = {SUBSCRIPTION_KEY: context.request["id"]}
    params = {"_meta": meta, "notifications": context.params["notifications"]}
    return stream({"jsonrpc": "2.0", "method": ACKNOWLEDGED, "params": params})


@on_reply("sends a cancellation for a tool call", breaks="CAN-13", scenario="utilities.working")
def cancels_failures(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "tools/call" and reply.get("result", {}).get("isError"):
        params = {"requestId": reply["id"], "reason": "failed"}
        return [{"jsonrpc": "2.0", "method": CANCELLED, "params": params}, reply]
    return [reply]


@on_reply(
    "sends a cancellation for every request that it serves", breaks="CAN-13", scenario="utilities.working"
)
def cancels_all(reply: Json, context: FaultContext) -> list[Json]:
    if context.method in ("tools/call", "resources/read", "prompts/get") and "result" in reply:
        return [{"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": reply["id"]}}, reply]
    return [reply]


@on_request("fails the next request after a late cancellation", breaks="CAN-08")
def cancels_the_next(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if _is_cancellation(message):
        context.memory["waiting"] = True
    if "id" not in message or not context.memory.pop("waiting", False):
        return message
    return LocalAnswer([error_reply(message, INTERNAL_ERROR, "cancelled")])


RESULTS: Final = {"initialize": {"capabilities": {}, "serverInfo": {"name": "frail", "version": "1"}}}


@scripted("exits on a late cancellation", breaks="CAN-08", scenario="utilities.odd-cancellations")
async def dies_of_cancellation(conversation: Conversation, revision: Revision) -> None:
    while (message := await conversation.receive()) is not None and not _is_cancellation(message):
        if "id" in message:
            conversation.send(result_reply(message, RESULTS.get(message["method"], {})))


@on_request("answers a malformed cancellation with an error", breaks="CAN-09")
def malformed_cancellation_error(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if not _is_cancellation(message) or isinstance(params_of(message).get("requestId"), int | str):
        return message
    return LocalAnswer([error_reply({"id": None}, INVALID_PARAMS, "requestId: Field required")])


@on_request("answers the cancellation of an unknown request with an error", breaks="CAN-09")
def unknown_cancellation_error(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if not _is_cancellation(message):
        context.memory[repr(message.get("id"))] = True
        return message
    name = params_of(message).get("requestId")
    if not isinstance(name, int | str) or repr(name) in context.memory:
        return message
    return LocalAnswer([error_reply({"id": None}, INVALID_PARAMS, "no such request")])

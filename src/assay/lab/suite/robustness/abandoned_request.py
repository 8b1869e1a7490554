"""Requests that a client cancels, or from which it disconnects, beside requests that it waits for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

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
    scenario,
)
from assay.lab.harness.driver.cancellation import CANCELLED, cancel
from assay.lab.harness.driver.peer import Peer, Pending
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.sabotage.saboteur import DISCONNECTED, LocalAnswer, newest_of_each_kind
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.transport import HTTP_ONLY, ONE_CHANNEL, Transport
from assay.lab.suite.later_request import later_requests, open_afterwards
from assay.lab.suite.request_pace import Pace, measure_pace
from assay.lab.suite.unanswered import EXITED, is_empty_success, is_refused, unanswered
from assay.model.error import INTERNAL_ERROR

EVERY: Final = frozenset({Transport.STDIO, Transport.HTTP, Transport.WEBSOCKET})

# --- what is asked


ROUNDS: Final = 4
CANCELLATIONS: Final = "cancellations"
AWAITED: Final = "awaited "
"""Prefix of the ids of requests that the driver waits for."""
LISTS: Final = {"tools": "tools/list", "resources": "resources/list", "prompts": "prompts/list"}
"""Methods without effects, by the capability that they need."""


@scenario(
    "Cancel some of many requests that are sent at once",
    exercises=("robustness.awaited-requests", "robustness.cancelled-responses"),
)
async def drive_cancellations(stage: Stage) -> None:
    peer = await stage.open()
    pace = await measure_pace(peer, stage.facts)
    lists = [name for key, name in LISTS.items() if key in stage.facts.capabilities]
    peer.mark(CANCELLATIONS)
    awaited: list[Pending] = []
    for number in range(ROUNDS):
        abandoned = await _start_abandoned(stage, peer, pace, number)
        for method in (stage.plain, *lists[number : number + 1], stage.plain):
            name = f"{AWAITED}{peer.next_id()}"
            awaited.append(await peer.start(method, request_id=name))
        for pending in abandoned:
            await cancel(peer, pending)
    for pending in awaited:
        await peer.answer(pending)
    if not (stage.transport is Transport.HTTP and stage.revision.http.disconnect_cancels):
        for request_id in (awaited[0].id, "never sent"):
            await peer.notify(CANCELLED, {"requestId": request_id})
    await peer.request(stage.plain, request_id=f"{AWAITED}{peer.next_id()}")


async def _start_abandoned(stage: Stage, peer: Peer, pace: Pace, number: int) -> list[Pending]:
    """A request to be cancelled in this round; in the first, also those that are still in progress."""
    running = [] if number else pace.running
    safe = pace.lasting or pace.quick
    if safe:
        return [*running, await safe[number % len(safe)].start(peer)]
    return [*running, await peer.start(stage.plain)]


DISCONNECTIONS: Final = 5


@scenario(
    "Disconnect during several requests",
    exercises=("robustness.after-disconnections",),
    transports=HTTP_ONLY,
)
async def drive_disconnections(stage: Stage) -> None:
    peer = await stage.open()
    pace = await measure_pace(peer, stage.facts)
    safe = pace.lasting or pace.quick
    for pending in pace.running:
        await _disconnect(peer, pending)
    for number in range(DISCONNECTIONS):
        pending = await (safe[number % len(safe)].start(peer) if safe else peer.start(stage.plain))
        if pace.lasting and number % 2:
            await peer.sentinel()  # the subject has read the request, and works on it
        await _disconnect(peer, pending)
    await peer.request(stage.plain)
    await open_afterwards(stage)


async def _disconnect(peer: Peer, pending: Pending) -> None:
    assert pending.sent is not None
    await peer.http.abort(pending.sent)
    peer.forget([pending])


# --- how it is judged


@check("Requests that are not cancelled are answered once", requirements=("ROBUST-05",), history=True)
def judge_awaited_requests(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if not str(exchange.request.id).startswith(AWAITED) or not any(trace.marks(CANCELLATIONS)):
            continue
        problem = unanswered(exchange, trace)
        if problem == EXITED:
            continue  # a finding of its own
        if exchange.answers or is_refused(exchange) or problem is not None:
            holds = problem is None and len(exchange.answers) <= 1
            observed = problem or f"{len(exchange.answers)} answers"
            expected = "one answer, while other requests are cancelled"
            yield observe("ROBUST-05", holds, exchange, expected=expected, observed=observed)


@check("A cancelled request gets no empty response", requirements=("ROBUST-06",), transports=HTTP_ONLY)
def judge_cancelled_responses(trace: Trace) -> Iterator[Observation]:
    named = [message for message in trace.messages if not message.by_subject and message.method == CANCELLED]
    for call in trace.calls:
        cancellation = next(
            (
                message
                for message in named
                for request in call.request_messages
                if "id" in request.fields and same_id(request.id, message.params.get("requestId"))
            ),
            None,
        )
        if cancellation is not None and call.is_over:
            # An event stream that ends without an answer is how a cancellation shows there.
            holds = call.is_stream or not is_empty_success(call)
            expected = "an answer, another status, or an event stream that ends"
            observed = f"status {call.status} and {len(call.body)} bytes"
            yield observe("ROBUST-06", holds, call, cancellation, expected=expected, observed=observed)


@check("After disconnections, other requests are served", requirements=("ROBUST-07",), transports=HTTP_ONLY)
def judge_after_disconnections(trace: Trace) -> Iterator[Observation]:
    ends = [frame for frame in trace.frames if frame.kind is Kind.END and frame.sender is Sender.DRIVER]
    if ends:
        yield from later_requests("ROBUST-07", trace, ends[-1])


# --- what the checks must catch


def _is_awaited(message: Json) -> bool:
    return str(message.get("id")).startswith(AWAITED)


@on_request("drops a request among many", breaks="ROBUST-05", transports=EVERY, silent=True)
def drops_among_many(message: Json, context: FaultContext) -> Json | LocalAnswer:
    number = context.memory["number"] = context.memory.get("number", 0) + _is_awaited(message)
    return LocalAnswer([]) if _is_awaited(message) and number % ROUNDS == 0 else message


@on_request(
    "drops the next request after a cancellation",
    breaks="ROBUST-05",
    transports=ONE_CHANNEL,
    window=newest_of_each_kind,
    silent=True,
)
def drops_after_cancellation(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") == CANCELLED:
        context.memory["cancelled"] = True
        return message
    dropped = _is_awaited(message) and context.memory.pop("cancelled", False)
    return LocalAnswer([]) if dropped else message


@on_reply(
    "answers a request again when another is cancelled",
    breaks="ROBUST-05",
    transports=ONE_CHANNEL,
    window=newest_of_each_kind,
)
def answers_again(reply: Json, context: FaultContext) -> list[Json]:
    return [reply, reply] if _is_awaited(reply) else [reply]


@on_call("ends cancelled requests with an empty response", breaks="ROBUST-06")
def cancelled_response_empty(request: Request, context: FaultContext) -> Response | None:
    context.memory["cancelled"] = context.memory.get("cancelled") or context.method == CANCELLED
    is_call = context.method == "tools/call" and context.memory["cancelled"]
    return Response([("Content-Type", JSON)], 200, b"") if is_call else None


@on_request("serves no request after a client disconnected", breaks="ROBUST-07", transports=HTTP_ONLY)
def disconnection_breaks(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if "id" not in message or not context.shared.get(DISCONNECTED):
        return message
    return LocalAnswer([error_reply(message, INTERNAL_ERROR, "broken pipe")])

"""Request ids, and the one reply that each request gets."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    error_reply,
    observe,
    on_reply,
    on_request,
    scenario,
)
from assay.lab.harness.sabotage.saboteur import LocalAnswer, Saboteur, newest_of_each_kind
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.unexplained_error import names_nothing, unexplained_errors
from assay.lab.harness.transport import STDIO_ONLY, Transport
from assay.lab.suite.envelope import has_proper_id, notifications_have_no_id
from assay.model.error import INVALID_REQUEST
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Asking

# --- what is asked


IDS: Final = (
    *(0, -1, 2**31, 2**53 - 1),
    *("", "0", "007", "null", "a" * 500, 'quoted "\\" and / too', "Grüße, 世界 🦊"),
)


@scenario(
    "Send requests with ids of every kind",
    exercises=("jsonrpc.reply-id", "jsonrpc.utf8", "jsonrpc.version", "jsonrpc.one-outcome"),
)
async def drive_ids(stage: Stage) -> None:
    peer = await stage.open()
    for request_id in IDS:
        await peer.request(stage.plain, request_id=request_id)
    # Ids that differ only in type: several pairs, all sent at once, since a server may be quick.
    numbers = range(4711, 4719)
    pairs = [request_id for number in numbers for request_id in (number, str(number))]
    started = [peer.start(stage.plain, request_id=request_id) for request_id in pairs]
    for pending in await asyncio.gather(*started):
        await peer.answer(pending)


@scenario(
    "Send responses that answer no request",
    exercises=("jsonrpc.reply-id",),
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
async def drive_stray_response(stage: Stage) -> None:
    peer = await stage.open()
    await peer.sentinel()
    async with peer.probe("stray response"):
        await peer.offer({"jsonrpc": "2.0", "id": "never asked", "result": {}})
    error = {"code": -32601, "message": "Method not found"}
    async with peer.probe("stray response"):
        await peer.offer({"jsonrpc": "2.0", "id": 4711, "error": error})


# --- how it is judged


@check(
    "Every response has the id of its request",
    requirements={"BASE-06": "A response has no id of an open request"},
    everywhere=True,
)
def judge_reply_id(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        # A resumed stream may repeat messages of another stream.
        originals = [answer for answer in exchange.answers if not answer.frame.is_on_get]
        if exchange.answers and not names_nothing(exchange.request):
            expected = f"one response with id {exchange.request.id!r}"
            observed = f"{len(originals)} of them"
            yield observe("BASE-06", len(originals) <= 1, exchange, expected=expected, observed=observed)
    for stray in _strays(trace):
        yield observe(
            "BASE-06",
            False,
            stray,
            *_requests_of(trace, stray),
            expected="the id of a request on this connection",
            observed=f"id {stray.id!r}",
        )


def _requests_of(trace: Trace, stray: Message) -> list[Message]:
    """On HTTP, the messages of the POST that the response belongs to."""
    if stray.frame.stream != "post":
        return []
    return [message for message in trace.messages if message.frame.channel == stray.frame.channel]


def _strays(trace: Trace) -> Iterator[Message]:
    yield from (message for message in trace.strays if message.shape is not Shape.ERROR)
    # Errors without an id are judged by `jsonrpc.named-errors`.
    yield from (error for error in unexplained_errors(trace) if not names_nothing(error))


# Requests of servers in any revision. Without an id they are still meant as requests.
SERVER_REQUESTS: Final = frozenset({"ping", "roots/list", "sampling/createMessage", "elicitation/create"})


@check(
    "Requests of the server have unique ids",
    requirements={
        "BASE-02": "A request has no id, or one that is neither a string nor an integer",
        "BASE-03": "A request has the id null",
        "BASE-04": "A request id was used twice in a session",
    },
    everywhere=True,
)
def judge_request_ids(trace: Trace) -> Iterator[Observation]:
    requests = [message for message in trace.received if _is_request(message)]
    for place, message in enumerate(requests):
        yield from has_proper_id(message)
        if (session := _session(trace, message)) is not None:
            earlier = [request for request in requests[:place] if _session(trace, request) == session]
            same = [request for request in earlier if same_id(request.id, message.id)][:1]
            expected = "an id that the server has not used in this session"
            yield observe("BASE-04", not same, *same, message, expected=expected, observed=message.id)


def _is_request(message: Message) -> bool:
    if message.shape is Shape.REQUEST:
        return not message.method.startswith("notifications/")
    return message.shape is Shape.NOTIFICATION and message.method in SERVER_REQUESTS


def _session(trace: Trace, message: Message) -> tuple[str, str] | None:
    """The session in which ids must differ, or None without a session or on a resumed stream."""
    if trace.transport != Transport.HTTP:
        return message.frame.connection, ""
    call = next((call for call in trace.calls if call.channel == message.frame.channel), None)
    if call is None or call.session is None or call.resumes is not None:
        return None
    return message.frame.connection, call.session


@check("Notifications of the server have no id", requirements=("BASE-11",), everywhere=True)
def judge_notification_ids(trace: Trace) -> Iterator[Observation]:
    return notifications_have_no_id(trace.received)


@check(
    "A response has either a result or an error",
    requirements={"BASE-07": "A response has both a result and an error, or neither"},
    everywhere=True,
)
def judge_one_outcome(trace: Trace) -> Iterator[Observation]:
    for message in trace.rpc_messages:
        if message.fields and "method" not in message.fields:
            keys = sorted({"result", "error"} & message.fields.keys())
            expected = "exactly one of `result` and `error`"
            observed = " and ".join(keys) or "neither"
            yield observe("BASE-07", len(keys) == 1, message, expected=expected, observed=observed)


# --- what the checks must catch


@on_request("answers a response that it did not ask for", breaks="BASE-06", scenario="jsonrpc.stray-response")
def answers_responses(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if "method" in message or "id" not in message:
        return message
    return LocalAnswer([error_reply(message, INVALID_REQUEST, "method is missing") for _ in range(2)])


@on_reply("answers every request twice", breaks="BASE-06", transports=STDIO_ONLY)
def answers_twice(reply: Json, context: FaultContext) -> list[Json]:
    return [reply, reply] if context.request is not None else [reply]


@on_reply("sends a numeric id back as a string", breaks="BASE-06", silent=True)
def id_as_text(reply: Json, context: FaultContext) -> Json:
    return {**reply, "id": str(reply["id"])} if isinstance(reply.get("id"), int) else reply


ODD_IDS: Final[dict[str, Any]] = {
    "breaks": "BASE-06",
    "window": newest_of_each_kind,
    "scenario": "jsonrpc.ids",
    "silent": True,  # a request whose id changed remains without an answer
}


@on_reply('sends the ids 0 and "" back as null', **ODD_IDS)
def falsy_id(reply: Json, context: FaultContext) -> Json:
    return {**reply, "id": reply["id"] or None} if "id" in reply else reply


@on_reply("sends an id of digits back as a number", **ODD_IDS)
def id_as_number(reply: Json, context: FaultContext) -> Json:
    name = reply.get("id")
    return {**reply, "id": int(name)} if isinstance(name, str) and name.isdecimal() else reply


@on_reply("truncates large ids to 32 bits", **ODD_IDS)
def id_in_32_bits(reply: Json, context: FaultContext) -> Json:
    number = reply.get("id")
    return {**reply, "id": (number + 2**31) % 2**32 - 2**31} if isinstance(number, int) else reply


@on_reply("sends an id outside ASCII back with question marks", **ODD_IDS)
def id_in_ascii(reply: Json, context: FaultContext) -> Json:
    name = reply.get("id")
    return {**reply, "id": name.encode("ascii", "replace").decode()} if isinstance(name, str) else reply


def _sends_before(name: str, fault: str, breaks: str, method: str, message: Json) -> Saboteur:
    """Send a message before the reply to that method, or before every result."""

    def change(reply: Json, context: FaultContext) -> list[Json]:
        due = context.method == method if method else "result" in reply
        return [{"jsonrpc": "2.0", **message}, reply] if due else [reply]

    saboteur: Saboteur = on_reply(fault, id=name, breaks=breaks, scenario="jsonrpc.own-words")(change)
    return saboteur


CHANGED: Final = "notifications/tools/list_changed"
EXTRA_MESSAGES: Final = (
    _sends_before(
        "jsonrpc.request-without-id",
        "sends a request without an id",
        "BASE-02",
        "tools/list",
        {"method": "roots/list"},
    ),
    _sends_before(
        "jsonrpc.null-request-id",
        "sends a request with the id null",
        "BASE-03",
        "",
        {"id": None, "method": "ping"},
    ),
    _sends_before(
        "jsonrpc.reused-request-id",
        "sends requests with the same id",
        "BASE-04",
        "tools/call",
        {"id": 1, "method": "ping"},
    ),
    _sends_before(
        "jsonrpc.notification-with-id",
        "sends a notification with the id null",
        "BASE-11",
        "tools/list",
        {"id": None, "method": CHANGED},
    ),
)


@on_reply("sends a request whose id has a fraction", breaks="BASE-02", scenario="jsonrpc.own-words")
def float_request_id(reply: Json, context: FaultContext) -> list[Json]:
    context.memory["clock"] = context.memory.get("clock", 1700000000.25) + 0.5
    ping = {"jsonrpc": "2.0", "id": context.memory["clock"], "method": "ping"}
    return [ping, reply] if "result" in reply else [reply]


@on_reply("sends a null error beside a result", breaks="BASE-07", window=newest_of_each_kind)
def error_beside_result(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": None} if "result" in reply else reply


@on_reply(
    "omits an empty result",
    breaks="BASE-07",
    scenario="jsonrpc.ids",
    window=lambda revision: revision is HANDSHAKE[-1],
    silent=True,
)
def no_outcome(reply: Json, context: FaultContext) -> Json:
    return {"jsonrpc": "2.0", "id": reply["id"]} if reply.get("result") == {} else reply


@on_reply("sends a null result beside an error", breaks="BASE-07")
def result_and_error(reply: Json, context: FaultContext) -> Json:
    return {**reply, "result": None} if "error" in reply else reply

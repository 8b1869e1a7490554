"""Request ids, and the one reply that each request gets."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    observe,
    on_reply,
    on_request,
    scenario,
)
from assay.lab.harness.sabotage.saboteur import LocalAnswer, newest_of_each_kind
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.unexplained_error import names_nothing, unexplained_errors
from assay.lab.harness.transport import STDIO_ONLY, Transport
from assay.lab.suite.envelope import has_proper_id, notifications_have_no_id
from assay.model.error import INVALID_REQUEST
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Asking

# --- what is asked


IDS = (
    *(0, -1, 2**31, 2**53 - 1),
    *("", "0", "007", "null", "a" * 500, 'quoted "\\" and / too', "Grüße, 世界 🦊"),
)


@scenario(
    "Ids of every kind",
    exercises=("jsonrpc.reply-id", "jsonrpc.utf8", "jsonrpc.version", "jsonrpc.one-outcome"),
)
async def drive_ids(stage: Stage) -> None:
    peer = await stage.open()
    for number in IDS:
        await peer.request(stage.plain, request_id=number)
    # Two that only their types tell apart, at the same time.
    pending = [await peer.start(stage.plain, request_id=number) for number in (4711, "4711")]
    for one in pending:
        await peer.answer(one)


@scenario(
    "A response that nobody asked for",
    exercises=("jsonrpc.reply-id",),
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
async def drive_stray_response(stage: Stage) -> None:
    peer = await stage.open()
    await peer.sentinel()
    async with peer.probe("stray response"):
        await peer.offer({"jsonrpc": "2.0", "id": "never asked", "result": {}})
    error = {"code": -32601, "message": "the lab does not know what you mean"}
    async with peer.probe("stray response"):
        await peer.offer({"jsonrpc": "2.0", "id": 4711, "error": error})


# --- how it is judged


@check("Every response has the id of its request", requirements=("BASE-06",), everywhere=True)
def judge_reply_id(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        # A stream that is resumed may repeat what was sent on another.
        firsthand = [one for one in exchange.answers if not one.frame.is_on_get]
        if exchange.answers and not names_nothing(exchange.request):
            yield observe(
                "BASE-06",
                len(firsthand) <= 1,
                exchange,
                expected=f"one response with id {exchange.request.id!r}",
                observed=f"{len(firsthand)} of them",
            )
    for stray in _strays(trace):
        yield observe(
            "BASE-06",
            False,
            stray,
            *_asked_there(trace, stray),
            expected="the id of a request that was sent here",
            observed=f"id {stray.id!r}",
        )


def _asked_there(trace: Trace, stray: Message) -> list[Message]:
    """On HTTP, what the response should have answered."""
    if stray.frame.stream != "post":
        return []
    return [one for one in trace.messages if one.frame.channel == stray.frame.channel]


def _strays(trace: Trace) -> Iterator[Message]:
    yield from (one for one in trace.strays if one.shape is not Shape.ERROR)
    # One without an id is judged as such: see `jsonrpc.named-errors`.
    yield from (one for one in unexplained_errors(trace) if not names_nothing(one))


NOTIFICATION = "notifications/"


# Requests that some revision gives to servers: without an id they are still meant as such.
ASKING = frozenset({"ping", "roots/list", "sampling/createMessage", "elicitation/create"})


@check(
    "Requests of the server have ids of their own",
    requirements=("BASE-02", "BASE-03", "BASE-04"),
    everywhere=True,
)
def judge_request_ids(trace: Trace) -> Iterator[Observation]:
    requests = [one for one in trace.received if _is_request(one)]
    for place, message in enumerate(requests):
        yield from has_proper_id(message)
        if (session := _session(trace, message)) is not None:
            before = [one for one in requests[:place] if _session(trace, one) == session]
            used = next((one for one in before if same_id(one.id, message.id)), None)
            evidence = (message,) if used is None else (used, message)
            expected = "an id that it has not used in this session"
            yield observe("BASE-04", used is None, *evidence, expected=expected, observed=message.id)


def _is_request(message: Message) -> bool:
    if message.shape is Shape.REQUEST:
        return not message.method.startswith(NOTIFICATION)
    return message.shape is Shape.NOTIFICATION and message.method in ASKING


def _session(trace: Trace, message: Message) -> tuple[str, str] | None:
    """Within what its ids must differ; none where there is no session, or where it may be a repetition."""
    if trace.transport != Transport.HTTP:
        return message.frame.connection, ""
    call = next((one for one in trace.calls if one.channel == message.frame.channel), None)
    if call is None or call.session is None or call.resumes is not None:
        return None
    return message.frame.connection, call.session


@check("Notifications of the server have no id", requirements=("BASE-11",), everywhere=True)
def judge_notification_ids(trace: Trace) -> Iterator[Observation]:
    return notifications_have_no_id(trace.received)


@check("A response has either a result or an error", requirements=("BASE-07",), everywhere=True)
def judge_one_outcome(trace: Trace) -> Iterator[Observation]:
    for message in trace.spoken:
        if message.fields and "method" not in message.fields:
            keys = sorted({"result", "error"} & message.fields.keys())
            yield observe(
                "BASE-07",
                len(keys) == 1,
                message,
                expected="exactly one of `result` and `error`",
                observed=" and ".join(keys) or "neither",
            )


# --- what the checks must catch


@on_request(
    "a response that nobody asked for is answered", breaks="BASE-06", scenario="jsonrpc.stray-response"
)
def answers_responses(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if "method" in message or "id" not in message:
        return message
    error = {"code": INVALID_REQUEST, "message": "there is no method in this request"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": message["id"], "error": error} for _ in range(2)])


@on_reply("every request is answered twice", breaks="BASE-06", transports=STDIO_ONLY)
def answers_twice(reply: Json, context: FaultContext) -> list[Json]:
    return [reply, reply] if context.request is not None else [reply]


@on_reply(
    'the ids 0 and "" come back as null', breaks="BASE-06", window=newest_of_each_kind, scenario="jsonrpc.ids"
)
def falsy_id(reply: Json, context: FaultContext) -> Json:
    return {**reply, "id": reply["id"] or None} if "id" in reply else reply


@on_reply(
    "an id of digits comes back as a number",
    breaks="BASE-06",
    window=newest_of_each_kind,
    scenario="jsonrpc.ids",
)
def id_as_number(reply: Json, context: FaultContext) -> Json:
    name = reply.get("id")
    return {**reply, "id": int(name)} if isinstance(name, str) and name.isdecimal() else reply


@on_reply("a numeric id comes back as a string", breaks="BASE-06")
def id_as_text(reply: Json, context: FaultContext) -> Json:
    return {**reply, "id": str(reply["id"])} if isinstance(reply.get("id"), int) else reply


@on_reply("a large id overflows", breaks="BASE-06", window=newest_of_each_kind, scenario="jsonrpc.ids")
def id_in_32_bits(reply: Json, context: FaultContext) -> Json:
    number = reply.get("id")
    return {**reply, "id": (number + 2**31) % 2**32 - 2**31} if isinstance(number, int) else reply


@on_reply(
    "an id beyond ASCII comes back with question marks",
    breaks="BASE-06",
    window=newest_of_each_kind,
    scenario="jsonrpc.ids",
)
def id_in_ascii(reply: Json, context: FaultContext) -> Json:
    name = reply.get("id")
    return {**reply, "id": name.encode("ascii", "replace").decode()} if isinstance(name, str) else reply


@on_reply("a request of the server has an id with a fraction", breaks="BASE-02", scenario="jsonrpc.own-words")
def float_request_id(reply: Json, context: FaultContext) -> list[Json]:
    context.memory["clock"] = context.memory.get("clock", 1700000000.25) + 0.5
    return (
        [{"jsonrpc": "2.0", "id": context.memory["clock"], "method": "ping"}, reply]
        if "result" in reply
        else [reply]
    )


@on_reply("a request of the server has no id", breaks="BASE-02", scenario="jsonrpc.own-words")
def request_without_id(reply: Json, context: FaultContext) -> list[Json]:
    return [{"jsonrpc": "2.0", "method": "roots/list"}, reply] if context.method == "tools/list" else [reply]


@on_reply("a request of the server has the id null", breaks="BASE-03", scenario="jsonrpc.own-words")
def null_request_id(reply: Json, context: FaultContext) -> list[Json]:
    return [{"jsonrpc": "2.0", "id": None, "method": "ping"}, reply] if "result" in reply else [reply]


@on_reply(
    "a request of the server has an id that it has used before",
    breaks="BASE-04",
    scenario="jsonrpc.own-words",
)
def reused_request_id(reply: Json, context: FaultContext) -> list[Json]:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    return [ping, reply] if context.method == "tools/call" else [reply]


@on_reply("a notification of the server has a null id", breaks="BASE-11", scenario="jsonrpc.own-words")
def notification_with_id(reply: Json, context: FaultContext) -> list[Json]:
    changed = {"jsonrpc": "2.0", "id": None, "method": "notifications/tools/list_changed"}
    return [changed, reply] if context.method == "tools/list" else [reply]


@on_reply("a result has a null error beside it", breaks="BASE-07", window=newest_of_each_kind)
def error_beside_result(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": None} if "result" in reply else reply


@on_reply(
    "an empty result is left out",
    breaks="BASE-07",
    scenario="jsonrpc.ids",
    window=lambda revision: revision is HANDSHAKE[-1],
    silent=True,
)
def no_outcome(reply: Json, context: FaultContext) -> Json:
    return {"jsonrpc": "2.0", "id": reply["id"]} if reply.get("result") == {} else reply


@on_reply("an error has a null result beside it", breaks="BASE-07")
def result_and_error(reply: Json, context: FaultContext) -> Json:
    return {**reply, "result": None} if "error" in reply else reply

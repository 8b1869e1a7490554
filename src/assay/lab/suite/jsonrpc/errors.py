"""Error replies: their codes, shape and text, for requests that cannot be served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Response,
    Stage,
    Trace,
    check,
    edited_results,
    observe,
    on_reply,
    on_request,
    on_response,
    scenario,
)
from assay.lab.harness.sabotage.alteration import encode
from assay.lab.harness.sabotage.saboteur import LocalAnswer, newest_of_each_kind
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.trace.unexplained_error import is_sound, names_nothing, unexplained_errors
from assay.lab.harness.transport import STDIO_ONLY, Transport
from assay.model.error import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
)
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Opening, Revision

# --- what is asked


NO_TEXT = b'{"jsonrpc":"2.0","method":"\xff\xfe"}'
MALFORMED: tuple[Any, ...] = (
    b"this is no JSON",
    b'{"jsonrpc":"2.0","method":"no/su',
    "a text",
    42,
    {},
    {"jsonrpc": "2.0", "id": 9001},
    {"jsonrpc": "2.0", "id": 9002, "method": 17},
    {"jsonrpc": "2.0", "id": {"an": "object"}, "method": "no/such/method"},
    {"jsonrpc": "2.0", "id": 9003, "method": "no/such/method", "params": "a text"},
    {"jsonrpc": "2.0", "id": None, "method": "no/such/method"},
    {"jsonrpc": "1.0", "id": 9004, "method": "no/such/method"},
)


@scenario(
    "Messages that are none",
    # Who answers none of them is judged by the answers in between.
    exercises=("jsonrpc.refusal-codes", "jsonrpc.error-shape", "jsonrpc.named-errors", "jsonrpc.reply-id"),
)
async def drive_malformed(stage: Stage) -> None:
    peer = await stage.open()
    await peer.sentinel()
    # On a WebSocket bytes that are no text are a fault below the messages, and end the connection.
    bad_bytes = () if stage.transport is Transport.WEBSOCKET else (NO_TEXT,)
    for message in (*MALFORMED, *bad_bytes):
        async with peer.probe("malformed"):
            await peer.offer(message)


LISTS = ("tools", "prompts", "resources")


@scenario(
    "Methods that do not exist",
    exercises=(
        "jsonrpc.unknown-method",
        "jsonrpc.error-shape",
        "jsonrpc.one-outcome",
        "jsonrpc.reply-id",
        "jsonrpc.named-errors",
        "jsonrpc.error-codes",
        "jsonrpc.error-text",
    ),
)
async def drive_unknown_method(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("no/such/method")
    await peer.request("no/such/method", request_id="by text")
    await peer.request("tools/no-such-verb", {"name": "anything"})
    if stage.revision.opening is Opening.PER_REQUEST:
        described = await peer.request("server/discover")
        advertised = described.result.get("capabilities")
        for name in LISTS:
            if isinstance(advertised, dict) and name not in advertised:
                await peer.request(f"{name}/list")


# --- how it is judged


KNOWN = frozenset[str]().union(*(revision.requests for revision in REVISIONS))


# Where a server describes itself on request, a method goes with the capability that it belongs to.
GATED = {"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources"}


@check("An unknown method gets -32601", requirements=("BASE-26", "HTTP-52"))
def judge_unknown_method(trace: Trace) -> Iterator[Observation]:
    declared = _declared(trace)
    for exchange in trace.exchanges():
        gated = declared is not None and GATED.get(exchange.method, "") not in {"", *declared}
        if (gated or exchange.method not in KNOWN) and exchange.answer is not None:
            yield observe(
                "BASE-26",
                exchange.code == METHOD_NOT_FOUND,
                exchange,
                expected=f"error {METHOD_NOT_FOUND}",
                observed=exchange,
            )
            # What it answers although it does not advertise it, it does implement.
            if not gated or exchange.result is None:
                yield from _status(exchange)


def _declared(trace: Trace) -> dict[str, Any] | None:
    """The capabilities that the server advertises in this trace; none where it does not say."""
    results = (one.result for one in trace.exchanges("server/discover") if one.result is not None)
    found = (result.get("capabilities") for result in results)
    return next((one for one in found if isinstance(one, dict)), None)


def _status(exchange: Exchange) -> Iterator[Observation]:
    if exchange.head is not None:
        expected = f"HTTP 404 with error {METHOD_NOT_FOUND}"
        yield observe("HTTP-52", exchange.head.status == 404, exchange, expected=expected, observed=exchange)


# HTTP looks at headers first, and a message without `_meta` is refused for that where every one must have it.
EARLIER = {
    Opening.HANDSHAKE: frozenset[int](),
    Opening.PER_REQUEST: frozenset({HEADER_MISMATCH, UNSUPPORTED_VERSION, INVALID_PARAMS}),
}


@check("What cannot be served is refused with its own code", requirements=("RPC-01",))
def judge_refusal_codes(trace: Trace) -> Iterator[Observation]:
    malformed = [one for one in trace.messages if not one.by_subject and not is_sound(one) and _asks(one)]
    for answer in trace.received:
        # Who takes it for a request all the same, and does not know the method, is only generous.
        if answer.shape is Shape.ERROR and answer.code != METHOD_NOT_FOUND:
            meant = [one for one in malformed if _may_mean(answer, one, trace)]
            right = _codes(meant, trace.revision)
            if meant:
                expected = f"error {' or '.join(map(str, sorted(right)))}"
                observed = answer
                yield observe(
                    "RPC-01", answer.code in right, *meant, answer, expected=expected, observed=observed
                )


def _asks(message: Message) -> bool:
    """Whether it may be taken for a broken request: notifications and responses are none."""
    return message.shape not in (Shape.NOTIFICATION, Shape.RESULT, Shape.ERROR)


def _may_mean(answer: Message, sent: Message, trace: Trace) -> bool:
    """An answer without an id may mean anything before it: on one channel it need not keep the order."""
    if sent.frame.n > answer.frame.n or sent.frame.connection != answer.frame.connection:
        return False
    if trace.transport == Transport.HTTP and sent.frame.channel != answer.frame.channel:
        return False
    return names_nothing(answer) or same_id(answer.id, sent.id)


def _codes(meant: Sequence[Message], revision: Revision) -> frozenset[int]:
    return EARLIER[revision.opening].union(*map(_codes_for, meant))


def _codes_for(sent: Message) -> set[int]:
    if sent.value is None:
        return {PARSE_ERROR}
    # Parameters that are no object may be told from a request that is none.
    return {INVALID_REQUEST, *([INVALID_PARAMS] if "params" in sent.fields else [])}


@check("An error has a code and a message", requirements=("BASE-08",), everywhere=True)
def judge_error_shape(trace: Trace) -> Iterator[Observation]:
    for message in trace.spoken:
        if message.is_response and "error" in message.fields:
            code, text = message.error.get("code"), message.error.get("message")
            yield observe(
                "BASE-08",
                type(code) is int and isinstance(text, str),
                message,
                expected="an integer `code` and a string `message`",
                observed=f"{message.fields['error']!r}",
            )


# Codes that nobody can choose without having read the request.
READ = (METHOD_NOT_FOUND, INVALID_PARAMS)


@check("An error names its request", requirements=("BASE-09",), everywhere=True)
def judge_named_errors(trace: Trace) -> Iterator[Observation]:
    expected = "the id of the request, which was readable"
    for exchange in trace.exchanges():
        if exchange.answer is not None and exchange.answer.shape is Shape.ERROR:
            yield observe("BASE-09", True, exchange, expected=expected, observed=exchange)
    for error in unexplained_errors(trace):
        if names_nothing(error) and _was_read(trace, error):
            yield observe("BASE-09", False, error, expected=expected, observed=f"no id; {error}")


def _was_read(trace: Trace, error: Message) -> bool:
    """HTTP may refuse a request before anyone looks into its body, and say so without an id."""
    return trace.status_of(error) < 400 or error.code in READ


STANDARD = frozenset({PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR})
DEFINED = frozenset({HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION})


# Codes that earlier revisions gave a meaning have a requirement of their own: BASE-24.
OLD = frozenset({-32002, -32042})
HEADED = (Transport.HTTP, Transport.HTTP_SSE)


# Which requirement governs a range, and what may be used of it.
RANGES = (
    ("BASE-21", range(-32019, -31999), OLD, "no code from -32019 to -32000"),
    ("BASE-23", range(-32099, -32019), DEFINED | OLD, "a code that the specification defines"),
    ("BASE-25", range(-32768, -32099), STANDARD, "a code outside -32768 to -32000"),
)


@check("Error codes keep to their ranges", requirements=("BASE-21", "BASE-23", "BASE-25"), everywhere=True)
def judge_error_codes(trace: Trace) -> Iterator[Observation]:
    for message in trace.spoken:
        if not message.is_response or type(message.code) is not int:
            continue
        for row, codes, allowed, expected in RANGES:
            holds = message.code not in codes or message.code in allowed
            yield observe(row, holds, message, expected=expected, observed=message)
        if message.code == HEADER_MISMATCH:
            expected = "no complaint about headers where there are none"
            yield observe("BASE-23", trace.transport in HEADED, message, expected=expected, observed=message)


LONGEST = 400
"""Characters. The schema only says "concise"; what is longer than this is not."""


@check("An error message is one concise sentence", requirements=("BASE-16",), everywhere=True)
def judge_error_text(trace: Trace) -> Iterator[Observation]:
    for message in trace.spoken:
        text = message.error.get("message")
        if message.is_response and isinstance(text, str):
            yield observe(
                "BASE-16",
                bool(text.strip()) and len(text) <= LONGEST and len(text.splitlines()) == 1,
                message,
                expected="one short sentence",
                observed=f"{len(text)} characters in {len(text.splitlines())} lines: {text[:80]!r}",
            )


# --- what the checks must catch


@on_reply("an unknown method gets -32600", breaks="BASE-26")
def unknown_method_invalid(reply: Json, context: FaultContext) -> Json:
    error = reply.get("error", {})
    if error.get("code") != METHOD_NOT_FOUND:
        return reply
    return {**reply, "error": {**error, "code": INVALID_REQUEST}}


@on_response("an unknown method gets status 200", breaks="HTTP-52", id="http.unknown-method-ok")
def unknown_method_ok(response: Response, context: FaultContext) -> None:
    response.status = 200 if response.status == 404 else response.status


@on_reply("what is no JSON gets -32603", breaks="RPC-01")
def internal_errors(reply: Json, context: FaultContext) -> Json:
    error = reply.get("error", {})
    if error.get("code") not in (PARSE_ERROR, INVALID_REQUEST):
        return reply
    return {**reply, "error": {**error, "code": INTERNAL_ERROR}}


@on_reply("`error.code` is a string", breaks="BASE-08")
def code_as_text(reply: Json, context: FaultContext) -> Json:
    if "error" not in reply:
        return reply
    return {**reply, "error": {**reply["error"], "code": str(reply["error"]["code"])}}


@on_reply("`error` is a string", breaks="BASE-08", window=newest_of_each_kind)
def error_is_text(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": reply["error"]["message"]} if "error" in reply else reply


@on_reply("`error.message` is null", breaks="BASE-08", window=newest_of_each_kind)
def error_without_text(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": {**reply["error"], "message": None}} if "error" in reply else reply


@on_reply("an error has no id, though its request had one", breaks="BASE-09")
def error_without_id(reply: Json, context: FaultContext) -> Json:
    return {key: value for key, value in reply.items() if key != "id"} if "error" in reply else reply


BUFFER = 64 * 1024


@on_request(
    "a line over 64 KiB is no JSON",
    breaks="BASE-09",
    scenario="framing.lines",
    transports=STDIO_ONLY,
    id="framing.short-buffer",
)
def short_buffer(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if len(encode(message)) <= BUFFER:
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "error": {"code": PARSE_ERROR, "message": "parse error"}}])


@on_request(
    "a line separator inside a text ends the line",
    breaks="BASE-09",
    scenario="framing.lines",
    transports=STDIO_ONLY,
    id="framing.unicode-line-ends",
)
def unicode_line_ends(message: Json, context: FaultContext) -> Json | LocalAnswer:
    pieces = encode(message).decode().splitlines()
    broken = {"jsonrpc": "2.0", "id": None, "error": {"code": PARSE_ERROR, "message": "parse error"}}
    return message if len(pieces) == 1 else LocalAnswer([broken for _ in pieces])


@on_reply("an error has the code -32001", breaks="BASE-21")
def retired_code(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": {**reply["error"], "code": -32001}} if "error" in reply else reply


@on_reply("on stdio an error speaks of headers", breaks="BASE-23", transports=STDIO_ONLY)
def header_error_on_stdio(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": {**reply["error"], "code": HEADER_MISMATCH}} if "error" in reply else reply


@on_reply("an error has the code -32050", breaks="BASE-23")
def invented_code(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": {**reply["error"], "code": -32050}} if "error" in reply else reply


@on_reply("an error has the code -32500", breaks="BASE-25")
def reserved_code(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": {**reply["error"], "code": -32500}} if "error" in reply else reply


@on_reply("a stack trace is in the message of an error", breaks="BASE-16")
def stack_trace(reply: Json, context: FaultContext) -> Json:
    if "error" not in reply:
        return reply
    trace = "Traceback (most recent call last):\n  File \"server.py\", line 12, in serve\nKeyError: 'method'"
    return {**reply, "error": {**reply["error"], "message": trace}}


RESULT_EDITS: Final = edited_results(
    "server/discover",
    (
        "jsonrpc.served-unadvertised",
        "a method of a capability that is not advertised is served",
        "BASE-26",
        "capabilities.prompts",
        ABSENT,
    ),
    window=lambda revision: revision.opening is Opening.PER_REQUEST,
)

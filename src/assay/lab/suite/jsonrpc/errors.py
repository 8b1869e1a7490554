"""Error replies: their codes, shape and text, for requests that cannot be served."""

from __future__ import annotations

from collections.abc import Iterator
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
from assay.lab.harness.sabotage.saboteur import LocalAnswer, Saboteur, newest_of_each_kind
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.separation import is_refused_for_header
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.trace.unexplained_error import (
    is_notification,
    is_sound,
    names_nothing,
    unexplained_errors,
)
from assay.lab.harness.transport import STDIO_ONLY, Transport
from assay.lab.suite.extension_method import methods_of_extensions
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
from assay.revisions.revision import Opening

# --- what is asked


INVALID_UTF8: Final = b'{"jsonrpc":"2.0","method":"\xff\xfe"}'
MALFORMED: Final[tuple[Any, ...]] = (
    b"this is not JSON",
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
    "Send malformed messages",
    exercises=("jsonrpc.refusal-codes", "jsonrpc.error-shape", "jsonrpc.named-errors", "jsonrpc.reply-id"),
)
async def drive_malformed(stage: Stage) -> None:
    peer = await stage.open_apart()
    await peer.request(stage.plain)
    # On a WebSocket, invalid UTF-8 is a protocol error of the transport and ends the connection.
    invalid = () if stage.transport is Transport.WEBSOCKET else (INVALID_UTF8,)
    for message in (*MALFORMED, *invalid):
        async with peer.probe("malformed"):
            await peer.offer(message)


@scenario(
    "Call methods that do not exist",
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
        for name in ("tools", "prompts", "resources"):
            if isinstance(advertised, dict) and name not in advertised:
                await peer.request(f"{name}/list")


# --- how it is judged


KNOWN: Final = frozenset[str]().union(*(revision.requests for revision in REVISIONS))
# Without the capability, these methods count as unknown in revisions with `server/discover`.
GATED: Final = {"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources"}


@check("An unknown method gets -32601", requirements=("BASE-26", "HTTP-52"), everywhere=True)
def judge_unknown_method(trace: Trace) -> Iterator[Observation]:
    declared, added = _declared(trace), methods_of_extensions(trace)
    for exchange in trace.exchanges():
        gated = declared is not None and GATED.get(exchange.method, "") not in {"", *declared}
        known = exchange.method in KNOWN or exchange.method in added
        unknown = not known and not _is_malformed(exchange.request)
        if (gated or unknown) and exchange.answer is not None and not _is_after_end(exchange, trace):
            refused = exchange.code == METHOD_NOT_FOUND
            expected = f"error {METHOD_NOT_FOUND}"
            yield observe("BASE-26", refused, exchange, expected=expected, observed=exchange)
            # A method that the server answers is implemented, though not advertised: 404 does not apply.
            if exchange.head is not None and (not gated or exchange.result is None):
                expected = f"HTTP 404 with error {METHOD_NOT_FOUND}"
                not_found = exchange.head.status == 404
                yield observe("HTTP-52", not_found, exchange, expected=expected, observed=exchange)


def _is_after_end(exchange: Exchange, trace: Trace) -> bool:
    """Whether the session of a request was ended: then it is refused, whatever its method."""
    frame = exchange.request.frame
    return any(
        call.sent.method == "DELETE"
        and call.request.connection == frame.connection
        and call.request.n < frame.n
        for call in trace.calls
    )


def _declared(trace: Trace) -> dict[str, Any] | None:
    """The capabilities in the result of `server/discover`, if the trace has one."""
    results = (exchange.result or {} for exchange in trace.exchanges("server/discover"))
    declared = (result.get("capabilities") for result in results)
    return next((capabilities for capabilities in declared if isinstance(capabilities, dict)), None)


# Codes of checks that come first: of headers on HTTP, and of `_meta` where every request must have it.
EARLIER: Final = {
    Opening.HANDSHAKE: frozenset[int](),
    Opening.PER_REQUEST: frozenset({HEADER_MISMATCH, UNSUPPORTED_VERSION, INVALID_PARAMS}),
}


@check("A malformed message is refused with the standard code", requirements=("RPC-01",))
def judge_refusal_codes(trace: Trace) -> Iterator[Observation]:
    malformed = [message for message in trace.messages if not message.by_subject and _is_malformed(message)]
    for answer in trace.received:
        # A lenient server may read the message as a request for an unknown method.
        if answer.shape is Shape.ERROR and answer.code != METHOD_NOT_FOUND:
            candidates = [message for message in malformed if _may_answer(answer, message, trace)]
            codes = EARLIER[trace.revision.opening].union(*map(_codes_for, candidates))
            if candidates:
                expected = f"error {' or '.join(map(str, sorted(codes)))}"
                valid = answer.code in codes
                yield observe("RPC-01", valid, *candidates, answer, expected=expected, observed=answer)


@check("A readable request is not a parse error", requirements=("RPC-01",), everywhere=True)
def judge_readable(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.answer is not None and exchange.answer.error and is_sound(exchange.request):
            expected = f"another code than {PARSE_ERROR} for a request that is valid JSON"
            valid = exchange.code != PARSE_ERROR
            yield observe("RPC-01", valid, exchange, expected=expected, observed=exchange)


def _is_malformed(message: Message) -> bool:
    """Whether a message is an invalid request; notifications and responses get no reply."""
    return not (is_sound(message) or is_notification(message) or message.is_response)


def _may_answer(answer: Message, sent: Message, trace: Trace) -> bool:
    """An error without an id may answer any earlier message: replies need not keep the order."""
    if sent.frame.n > answer.frame.n or sent.frame.connection != answer.frame.connection:
        return False
    if trace.transport == Transport.HTTP and sent.frame.channel != answer.frame.channel:
        return False
    return names_nothing(answer) or same_id(answer.id, sent.id)


def _codes_for(sent: Message) -> set[int]:
    if sent.value is None:
        return {PARSE_ERROR}
    # `params` that are not an object may also be reported as invalid parameters.
    return {INVALID_REQUEST, *([INVALID_PARAMS] if "params" in sent.fields else [])}


@check(
    "An error has a code and a message",
    requirements={"BASE-08": "An error has no integer `code` or no string `message`"},
    everywhere=True,
)
def judge_error_shape(trace: Trace) -> Iterator[Observation]:
    for message in trace.rpc_messages:
        if message.is_response and "error" in message.fields:
            code, text = message.error.get("code"), message.error.get("message")
            yield observe(
                "BASE-08",
                type(code) is int and isinstance(text, str),
                message,
                expected="an integer `code` and a string `message`",
                observed=f"{message.fields['error']!r}",
            )


@check(
    "An error has the id of its request",
    requirements={"BASE-09": "An error has no id, although the id of the request was readable"},
    everywhere=True,
)
def judge_named_errors(trace: Trace) -> Iterator[Observation]:
    expected = "the id of the request, which was readable"
    for exchange in trace.exchanges():
        if exchange.answer is not None and exchange.answer.shape is Shape.ERROR:
            yield observe("BASE-09", True, exchange, expected=expected, observed=exchange)
    for error in unexplained_errors(trace):
        if names_nothing(error) and _was_read(trace, error):
            yield observe("BASE-09", False, error, expected=expected, observed=f"no id; {error}")


def _was_read(trace: Trace, error: Message) -> bool:
    """HTTP may refuse a request before it reads the body, but not with a code about its content. That code is
    about a header if the same request with another header is answered."""
    if trace.status_of(error) < 400:
        return True
    if error.code not in (METHOD_NOT_FOUND, INVALID_PARAMS):
        return False
    calls = (call for call in trace.calls if call.channel == error.frame.channel)
    return not any(is_refused_for_header(call, trace) for call in calls)


STANDARD: Final = frozenset({PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR})
DEFINED: Final = frozenset({HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION})
# Codes of earlier revisions are subject to BASE-24.
OLD: Final = frozenset({-32002, -32042})
# Requirements by range of codes, with the allowed ones.
RANGES: Final = (
    ("BASE-21", range(-32019, -31999), OLD, "no code from -32019 to -32000"),
    ("BASE-23", range(-32099, -32019), DEFINED | OLD, "a code that the specification defines"),
    ("BASE-25", range(-32768, -32099), STANDARD, "a code outside -32768 to -32000"),
)


@check("Error codes are in their ranges", requirements=("BASE-21", "BASE-23", "BASE-25"), everywhere=True)
def judge_error_codes(trace: Trace) -> Iterator[Observation]:
    for message in trace.rpc_messages:
        if not message.is_response or type(message.code) is not int:
            continue
        for row, codes, allowed, expected in RANGES:
            holds = message.code not in codes or message.code in allowed
            yield observe(row, holds, message, expected=expected, observed=message)
        if message.code == HEADER_MISMATCH:
            with_headers = trace.transport in (Transport.HTTP, Transport.HTTP_SSE)
            expected = "no error about headers on a transport without headers"
            yield observe("BASE-23", with_headers, message, expected=expected, observed=message)


MAX_LENGTH: Final = 400
"""Characters of an error message. The schema only says "concise"."""


@check(
    "An error message is one concise sentence",
    requirements={"BASE-16": "An error message is empty, too long or has several lines"},
    everywhere=True,
)
def judge_error_text(trace: Trace) -> Iterator[Observation]:
    for message in trace.rpc_messages:
        text = message.error.get("message")
        if message.is_response and isinstance(text, str):
            yield observe(
                "BASE-16",
                bool(text.strip()) and len(text) <= MAX_LENGTH and len(text.splitlines()) == 1,
                message,
                expected="one short sentence",
                observed=f"{len(text)} characters in {len(text.splitlines())} lines: {text[:80]!r}",
            )


# --- what the checks must catch


def _edited_error(name: str, fault: str, breaks: str, *codes: int, **edit: Any) -> Saboteur:
    """Change members of errors, of all or of those with the given codes."""
    options = {key: edit.pop(key) for key in ("transports", "window") if key in edit}

    def change(reply: Json, context: FaultContext) -> Json:
        if "error" not in reply or (codes and reply["error"].get("code") not in codes):
            return reply
        return {**reply, "error": {**reply["error"], **edit}}

    saboteur: Saboteur = on_reply(fault, id=name, breaks=breaks, **options)(change)
    return saboteur


TRACEBACK: Final = (
    "Traceback (most recent call last):\n  File \"server.py\", line 12, in serve\nKeyError: 'method'"
)
ERROR_EDITS: Final = (
    _edited_error(
        "jsonrpc.unknown-method-invalid",
        "refuses an unknown method with -32600",
        "BASE-26",
        METHOD_NOT_FOUND,
        code=INVALID_REQUEST,
    ),
    _edited_error(
        "jsonrpc.internal-errors",
        "refuses malformed messages with -32603",
        "RPC-01",
        PARSE_ERROR,
        INVALID_REQUEST,
        code=INTERNAL_ERROR,
    ),
    _edited_error(
        "jsonrpc.error-without-text",
        "sends `error.message` as null",
        "BASE-08",
        message=None,
        window=newest_of_each_kind,
    ),
    _edited_error("jsonrpc.retired-code", "sends the error code -32001", "BASE-21", code=-32001),
    _edited_error(
        "jsonrpc.header-error-on-stdio",
        "sends an error about headers on stdio",
        "BASE-23",
        code=HEADER_MISMATCH,
        transports=STDIO_ONLY,
    ),
    _edited_error("jsonrpc.invented-code", "sends the error code -32050", "BASE-23", code=-32050),
    _edited_error("jsonrpc.reserved-code", "sends the error code -32500", "BASE-25", code=-32500),
    _edited_error("jsonrpc.stack-trace", "sends a stack trace as message", "BASE-16", message=TRACEBACK),
)


@on_response("answers an unknown method with status 200", breaks="HTTP-52", id="http.unknown-method-ok")
def unknown_method_ok(response: Response, context: FaultContext) -> None:
    response.status = 200 if response.status == 404 else response.status


@on_reply("sends `error.code` as a string", breaks="BASE-08")
def code_as_text(reply: Json, context: FaultContext) -> Json:
    if "error" not in reply:
        return reply
    return {**reply, "error": {**reply["error"], "code": str(reply["error"]["code"])}}


@on_reply("sends `error` as a string", breaks="BASE-08", window=newest_of_each_kind)
def error_is_text(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": reply["error"]["message"]} if "error" in reply else reply


@on_reply("sends errors without the id of the request", breaks="BASE-09")
def error_without_id(reply: Json, context: FaultContext) -> Json:
    return {key: value for key, value in reply.items() if key != "id"} if "error" in reply else reply


UNREADABLE: Final = {"jsonrpc": "2.0", "id": None, "error": {"code": PARSE_ERROR, "message": "Parse error"}}


@on_request(
    "cannot read lines over 64 KiB",
    breaks="BASE-09",
    scenario="framing.lines",
    transports=STDIO_ONLY,
    id="framing.short-buffer",
)
def short_buffer(message: Json, context: FaultContext) -> Json | LocalAnswer:
    return message if len(encode(message)) <= 64 * 1024 else LocalAnswer([UNREADABLE])


@on_request(
    "ends a line at a Unicode line separator",
    breaks="BASE-09",
    scenario="framing.lines",
    transports=STDIO_ONLY,
    id="framing.unicode-line-ends",
)
def unicode_line_ends(message: Json, context: FaultContext) -> Json | LocalAnswer:
    pieces = encode(message).decode().splitlines()
    return message if len(pieces) == 1 else LocalAnswer([UNREADABLE for _ in pieces])


RESULT_EDITS: Final = edited_results(
    "server/discover",
    (
        "jsonrpc.served-unadvertised",
        "serves methods of a capability that it does not advertise",
        "BASE-26",
        "capabilities.prompts",
        ABSENT,
    ),
    window=lambda revision: revision.opening is Opening.PER_REQUEST,
)


@on_reply("answers every refusal with -32700", breaks="RPC-01", scenario="jsonrpc.unknown-method")
def refusals_are_parse_errors(reply: Json, context: FaultContext) -> Json:
    if "error" in reply and context.method:
        reply["error"]["code"] = PARSE_ERROR
    return reply

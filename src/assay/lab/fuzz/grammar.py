"""The grammar of messages: each rule generates a step from choices, the simplest one if all are zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from assay.lab.harness.driver.message_meta import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    LOG_LEVEL_KEY,
    VERSION_KEY,
    mirror_headers,
    param_headers,
)
from assay.lab.harness.transport import Transport

from .ambiguity import LISTENING
from .case import UNKNOWN, Step
from .choice import Choices
from .grammar_context import GrammarContext
from .odd_value import RawJson, odd_text, odd_value, write
from .schema_value import fitting, is_refused, near_miss

Rule = Callable[[Choices, GrammarContext], Step]
IDS: Final = (101, "a", 0, -1, "", "0", 2**31, 2**53 - 1, "a" * 500, "世🦊", 'q"\\')
ODD_IDS: Final[tuple[Any, ...]] = (
    None,
    1.5,
    1.0,
    True,
    [],
    {},
    2**53,
    2**63,
    2**64,
    -(2**63) - 1,
    "\ud800",
    RawJson("1e999"),
)
METHODS: Final = (
    UNKNOWN,
    "",
    "tools",
    "tools/",
    "tools/Call",
    "rpc.x",
    "notifications/",
    "a" * 5000,
    "\ud800",
)
VERSIONS: Final[tuple[Any, ...]] = (None, "1.0", "", "2", 2, 2.0, ["2.0"], "2.0 ", {})
EXTRAS: Final = ("result", "error", "params", "id", "extra", "_meta", "jsonrpc", "")
META_KEYS: Final = (
    "progressToken",
    VERSION_KEY,
    CLIENT_KEY,
    CAPABILITIES_KEY,
    LOG_LEVEL_KEY,
    "traceparent",
    "",
    "a/",
    "io.modelcontextprotocol/unknown",
)
BY_NAME: Final = (
    ("tools/call", "name"),
    ("prompts/get", "name"),
    ("resources/read", "uri"),
    ("completion/complete", "ref"),
)
NAMES: Final[tuple[Any, ...]] = ("", UNKNOWN, "\ud800", " ", "\x00", "../../x", None, 0, [], {}, "a" * 5000)
CUTS: Final = ("half", "last", "tail", "twice", "name twice", "blank", "byte", "text")
Json = dict[str, Any]
Headers = dict[str, str | None]
LONGEST_HEADER: Final = 1000


def step(context: GrammarContext, message: Any, headers: Headers | None = None) -> Step:
    """A message, on HTTP with additional headers."""
    removed = _unsendable(context, message) if is_mirrored(context) else {}
    return Step(write(message).encode(), tuple({**removed, **(headers or {})}.items()))


def is_mirrored(context: GrammarContext) -> bool:
    return context.transport is Transport.HTTP and context.revision.http.mirrored is not None


def _unsendable(context: GrammarContext, message: Any) -> Headers:
    """Mirrored headers whose values cannot be sent, which are left out."""
    mirrored = mirror_headers(context.revision, message)
    return {name: None for name, value in mirrored.items() if value is not None and not _fits(value)}


def _fits(value: str) -> bool:
    return value.isascii() and value.isprintable() and len(value) < LONGEST_HEADER


def an_id(choices: Choices) -> Any:
    """A client must not reuse an id, and the handshake has used 1."""
    return choices.unused(IDS)


def _message(choices: Choices, method: Any, params: Any = None) -> Json:
    optional = {} if params is None else {"params": params}
    return {"jsonrpc": "2.0", "id": an_id(choices), "method": method, **optional}


def request(choices: Choices, context: GrammarContext) -> Step:
    """A request of any method, with up to two odd parameters."""
    method = choices.pick(context.methods)
    if method in LISTENING and not choices.chance(6):
        method = context.plain  # rarely, because an open stream ends the session for other cases
    params = context.declared(context.usual.get(method, {}))
    for _ in range(choices.count(2)):
        params = _alter(choices, params)
    if method == "tools/call" and isinstance(params, dict) and not context.is_safe(params.get("name")):
        params = {**params, "name": UNKNOWN}
    return step(context, _message(choices, method, params))


def _alter(choices: Choices, params: Any) -> Any:
    if not isinstance(params, dict) or choices.chance(8):
        return odd_value(choices)
    name = choices.pick([*sorted(params), "cursor", "_meta", "extra"])
    match choices.pick(("empty", "drop", "value", "text", "meta")):
        case "empty":
            return {**params, name: ""}
        case "drop":
            return {key: value for key, value in params.items() if key != name}
        case "value":
            return {**params, name: odd_value(choices)}
        case "text":
            return {**params, name: odd_text(choices)}
    return {**params, "_meta": _meta(choices, params.get("_meta"))}


def _meta(choices: Choices, meta: Any) -> Any:
    return {**(meta if isinstance(meta, dict) else {}), choices.pick(META_KEYS): odd_value(choices)}


def named(choices: Choices, context: GrammarContext) -> Step:
    """A request for an item with an unknown or invalid name."""
    method, key = choices.pick(BY_NAME)
    name = choices.pick(NAMES)
    params = context.declared({**context.usual.get(method, {}), key: name})
    return step(context, _message(choices, method, params))


def call(choices: Choices, context: GrammarContext) -> Step:
    """A call of an allowed tool, with valid or nearly valid arguments."""
    if not context.tools:
        return request(choices, context)
    tool = choices.pick(context.tools)
    schema = tool.get("inputSchema")
    arguments = near_miss(choices, schema) if choices.chance(2) else fitting(choices, schema)
    mirrors = is_mirrored(context) and isinstance(arguments, dict)
    mirrored = param_headers(tool, arguments) if mirrors else {}
    headers: Headers = {name: value for name, value in mirrored.items() if _fits(value)}
    params = context.declared({"name": tool["name"], "arguments": arguments})
    tool_call = step(context, _message(choices, "tools/call", params), headers)
    return msgspec.structs.replace(tool_call, may_run_long=not is_refused(arguments, schema))


def identified(choices: Choices, context: GrammarContext) -> Step:
    """A plain request with an invalid id."""
    message = _message(choices, context.plain, context.declared({}))
    return step(context, {**message, "id": choices.pick(ODD_IDS)})


def unknown(choices: Choices, context: GrammarContext) -> Step:
    """A request of an unknown method."""
    params = context.declared({}) if choices.chance(2) or context.declared({}) else None
    return step(context, _message(choices, choices.pick(METHODS), params))


def enveloped(choices: Choices, context: GrammarContext) -> Step:
    """A message with invalid members of the envelope."""
    message = _message(choices, context.plain, context.declared({}))
    match choices.pick(("version", "extra", "drop", "method", "params")):
        case "version":
            return step(context, {**message, "jsonrpc": choices.pick(VERSIONS)})
        case "extra":
            return step(context, {**message, choices.pick(EXTRAS): odd_value(choices)})
        case "drop":
            name = choices.pick(sorted(message))
            return step(context, {key: value for key, value in message.items() if key != name})
        case "method":
            return step(context, {**message, "method": odd_value(choices)})
    return step(context, {**message, "params": odd_value(choices)})


def notice(choices: Choices, context: GrammarContext) -> Step:
    """A known or unknown notification with parameters that may be odd."""
    method = choices.pick([*context.notices, "notifications/of-the-lab", UNKNOWN])
    params: Any = context.usual.get(method, {})
    for _ in range(choices.count(2)):
        params = _alter(choices, params)
    return step(context, {"jsonrpc": "2.0", "method": method, "params": params})


def response(choices: Choices, context: GrammarContext) -> Step:
    """An answer to a request that the server did not send."""
    outcome = choices.pick(("result", "error"))
    return step(context, {"jsonrpc": "2.0", "id": an_id(choices), outcome: odd_value(choices)})


def bare(choices: Choices, context: GrammarContext) -> Step:
    """Any JSON value instead of a message."""
    return step(context, odd_value(choices))


def malformed(choices: Choices, context: GrammarContext) -> Step:
    """A damaged message."""
    body = request(choices, context).body if choices.chance(2) else write(_plain(choices, context)).encode()
    return Step(_damage(choices, body), _mirrored_method(context))


def _plain(choices: Choices, context: GrammarContext) -> Json:
    return _message(choices, context.plain, context.declared({}))


def _mirrored_method(context: GrammarContext) -> tuple[tuple[str, str | None], ...]:
    """A header for a body that cannot be parsed, so that the server does not refuse it unread."""
    return (("Mcp-Method", context.plain),) if is_mirrored(context) else ()


def _damage(choices: Choices, body: bytes) -> bytes:
    match choices.pick(CUTS):
        case "half":
            return body[: 1 + choices.count(min(len(body), 200))]
        case "last":
            return body[:-1]
        case "tail":
            return body + choices.pick((b"}", b",", b"\x00", b"x", b" {}", b"\r", b"\xff"))
        case "twice":
            return body + body
        case "name twice":
            return b'{"id":7,' + body[1:]
        case "blank":
            return choices.pick((b"", b" ", b"\r", b"\t", b"\xef\xbb\xbf" + body, b" " + body + b" "))
        case "byte":
            at = choices.count(min(len(body), 200) - 1) if body else 0
            return (
                body[:at] + choices.pick((b"\xff", b"\x00", b"\xed\xa0\x80", b'"', b"\\", b"[")) + body[at:]
            )
    return odd_text(choices).encode("utf-8", "surrogatepass").replace(b"\n", b" ")


def batch(choices: Choices, context: GrammarContext) -> Step:
    """An array of up to four messages and other values."""
    rules = (request, notice, unknown, bare)
    members = [choices.pick(rules)(choices, context).body for _ in range(choices.count(4))]
    return Step(b"[" + b",".join(members) + b"]", _mirrored_method(context))


MESSAGES: Final[tuple[Rule, ...]] = (
    request,
    named,
    call,
    unknown,
    malformed,
    enveloped,
    identified,
    notice,
    response,
    bare,
    batch,
)

"""The grammar below messages: HTTP heads, WebSocket frames and lines; and of whole cases."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from assay.lab.harness.transport import Transport
from assay.protocol.framing import websocket as ws
from assay.revisions.registry import REVISIONS

from .case import UNKNOWN, Case, Step
from .choice import Choices
from .grammar import MESSAGES, Rule, call, request, step
from .grammar_context import GrammarContext

VERSIONS: Final = ("", "1", "x" * 300, "2.0", " ", "None", *(revision.date for revision in REVISIONS))
VALUES: Final = (
    None,
    "",
    UNKNOWN,
    "tools/call",
    "=?base64?!!?=",
    "=?base64?YQ==?=",
    "a" * 3000,
    "é",
    "*/*",
    "text/plain",
    "application/json",
    "text/event-stream",
    "application/json;q=0",
    "0",
    "-1",
    "null",
    "a,b",
)
NAMES: Final = (
    "Accept",
    "Content-Type",
    "Mcp-Method",
    "Mcp-Name",
    "MCP-Protocol-Version",
    "Mcp-Session-Id",
    "Last-Event-ID",
    "Mcp-Param-Region",
    "Mcp-Param-",
    "Content-Encoding",
    "X-Lab",
)
VERBS: Final = ("GET", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH")
MASK: Final = b"\x01\x02\x03\x04"
STEPS: Final = ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
"""The parts of the choices that a case consists of, so that shrinking can drop any of them."""
CROWD: Final = 24
"""The most concurrent requests."""


def headed(choices: Choices, context: GrammarContext) -> Step:
    """A message with one or two odd headers."""
    message = choices.pick((request, call))(choices, context)
    headers = dict(message.headers)
    for _ in range(1 + choices.count(1)):
        name = choices.pick(NAMES)
        options: tuple[Any, ...] = VERSIONS if name == "MCP-Protocol-Version" else VALUES
        headers[name] = choices.pick(options)
    return msgspec.structs.replace(message, headers=tuple(headers.items()))


def without_message(choices: Choices, context: GrammarContext) -> Step:
    """An HTTP request other than POST: streams, their resumption, the end of a session, unknown methods."""
    accept = choices.pick(("text/event-stream", "*/*", "application/json", ""))
    headers: dict[str, str | None] = {"Accept": accept}
    if choices.chance(2):
        headers["Last-Event-ID"] = choices.pick(("0", "1", "", UNKNOWN, "-1", "1/1", "9" * 30, "é"))
    if choices.chance(2):
        headers["Mcp-Session-Id"] = choices.pick((UNKNOWN, "", "a" * 3000, " ", None))
    return Step(b"", tuple(headers.items()), choices.pick(VERBS))


def frame(choices: Choices, context: GrammarContext) -> Step:
    """A valid or invalid WebSocket frame, or a message in several frames."""
    body = request(choices, context).body
    opcode = choices.pick((ws.PING, ws.PONG, ws.TEXT, ws.BINARY, ws.CONTINUATION, ws.CLOSE, 3, 15))
    match choices.pick(("parts", "one", "reserved", "unmasked", "open")):
        case "parts":
            half = len(body) // 2
            raw = ws.frame(ws.TEXT, body[:half], fin=False, mask=MASK)
            raw += ws.frame(ws.PING, b"", mask=MASK) if choices.chance(2) else b""
            raw += ws.frame(ws.CONTINUATION, body[half:], mask=MASK)
        case "one":
            raw = ws.frame(opcode, body[: choices.count(200)], mask=MASK)
        case "reserved":
            raw = ws.frame(opcode, body[:100], rsv=1 + choices.count(6), mask=MASK)
        case "unmasked":
            raw = ws.frame(opcode, body[:100])
        case _:
            raw = ws.frame(opcode, body[:100], fin=False, mask=MASK)
    return Step(raw, framed=False)


def line(choices: Choices, context: GrammarContext) -> Step:
    """Unusual line endings, blank lines, or bytes before the message."""
    body = request(choices, context).body
    end = choices.pick((b"\r\n", b"\n", b"\n\n", b"\r\r\n", b"\n\r\n", b" \n"))
    begin = choices.pick((b"", b"\n", b"\r\n", b" ", b"\xef\xbb\xbf", b"\x00", b"\x1b[0m"))
    return Step(begin + body + end, framed=False)


BELOW: Final[Mapping[Transport, tuple[Rule, ...]]] = MappingProxyType(
    {
        Transport.STDIO: (line,),
        Transport.HTTP: (headed, headed, without_message),
        Transport.WEBSOCKET: (frame,),
        Transport.HTTP_SSE: (),
    }
)


def case(choices: Choices, context: GrammarContext) -> Case:
    """A conversation of a few steps of any kind, or of concurrent requests."""
    if choices.chance(12):
        return crowd(choices, context)
    rules = (*MESSAGES, *BELOW[context.transport])
    parts = [choices.part(place) for place in choices.pick(STEPS)]
    return Case(tuple(part.pick(rules)(part, context) for part in parts))


def crowd(choices: Choices, context: GrammarContext) -> Case:
    """Concurrent requests with different ids."""
    count = 2 + choices.count(CROWD - 2)
    ids = [number if choices.number(3) < 2 else str(number) for number in range(101, 101 + count)]
    methods = [method for method in context.methods if method.endswith("/list") or method == context.plain]
    messages = [
        {"jsonrpc": "2.0", "id": name, "method": choices.pick(methods), "params": context.declared({})}
        for name in ids
    ]
    return Case(tuple(step(context, message) for message in messages), together=True)

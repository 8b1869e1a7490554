"""The grammar below messages: heads of HTTP, frames of a WebSocket, lines of a pipe."""

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
from .ground import Ground

VERSIONS: Final = ("", "1", "x" * 300, "2.0", " ", "None", *(one.date for one in REVISIONS))
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
"""Which parts a case is made of: any of them may turn out to be the one that matters."""
CROWD: Final = 24
"""Requests that are sent at once."""


def headed(choices: Choices, ground: Ground) -> Step:
    """A message whose head does not go with it."""
    made = choices.pick((request, call))(choices, ground)
    changed = dict(made.headers)
    for _ in range(1 + choices.count(1)):
        name = choices.pick(NAMES)
        options: tuple[Any, ...] = VERSIONS if name == "MCP-Protocol-Version" else VALUES
        changed[name] = choices.pick(options)
    return msgspec.structs.replace(made, headers=tuple(changed.items()))


def asked(choices: Choices, ground: Ground) -> Step:
    """A request of HTTP that is no POST: streams, their resumption, ends of sessions, unknown methods."""
    accept = choices.pick(("text/event-stream", "*/*", "application/json", ""))
    given: dict[str, str | None] = {"Accept": accept}
    if choices.chance(2):
        given["Last-Event-ID"] = choices.pick(("0", "1", "", UNKNOWN, "-1", "1/1", "9" * 30, "é"))
    if choices.chance(2):
        given["Mcp-Session-Id"] = choices.pick((UNKNOWN, "", "a" * 3000, " ", None))
    return Step(b"", tuple(given.items()), choices.pick(VERBS))


def frame(choices: Choices, ground: Ground) -> Step:
    """A frame of a WebSocket by the rules or against them, or a message in several."""
    body = request(choices, ground).body
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


def line(choices: Choices, ground: Ground) -> Step:
    """Lines as other systems write them, several in one write, or blank."""
    body = request(choices, ground).body
    end = choices.pick((b"\r\n", b"\n", b"\n\n", b"\r\r\n", b"\n\r\n", b" \n"))
    begin = choices.pick((b"", b"\n", b"\r\n", b" ", b"\xef\xbb\xbf", b"\x00", b"\x1b[0m"))
    return Step(begin + body + end, framed=False)


BELOW: Final[Mapping[Transport, tuple[Rule, ...]]] = MappingProxyType(
    {
        Transport.STDIO: (line,),
        Transport.HTTP: (headed, headed, asked),
        Transport.WEBSOCKET: (frame,),
        Transport.HTTP_SSE: (),
    }
)


def case(choices: Choices, ground: Ground) -> Case:
    """A conversation: a few steps of any kind, or a crowd of requests at once."""
    if choices.chance(12):
        return crowd(choices, ground)
    rules = (*MESSAGES, *BELOW[ground.transport])
    parts = [choices.part(place) for place in choices.pick(STEPS)]
    return Case(tuple(part.pick(rules)(part, ground) for part in parts))


def crowd(choices: Choices, ground: Ground) -> Case:
    """Requests that are under way together, each with an id of its own."""
    count = 2 + choices.count(CROWD - 2)
    ids = [place if choices.number(3) < 2 else str(place) for place in range(101, 101 + count)]
    methods = [one for one in ground.methods if one.endswith("/list") or one == ground.plain]
    messages = [
        {"jsonrpc": "2.0", "id": one, "method": choices.pick(methods), "params": ground.declared({})}
        for one in ids
    ]
    return Case(tuple(step(ground, one) for one in messages), together=True)

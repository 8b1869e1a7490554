"""Rows about WebSockets: upgrade requests, and frames that violate RFC 6455."""

from __future__ import annotations

from typing import Any

from assay.protocol.framing.websocket import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, frame
from tests.bad_input.heads import ALONE, refused
from tests.bad_input.messages import PING as MESSAGE
from tests.bad_input.row import After, Answer, Ended, Head, Reply, Row, Served, on_http, on_websocket
from tests.bad_input.subject import MESSAGE_BYTES

MASK = b"\x0a\x0b\x0c\x0d"
UPGRADE = {
    "upgrade": "websocket",
    "connection": "Upgrade",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def upgrade(
    name: str, display: str, answer: Reply | Answer, because: str, path: str = "/mcp/ws", **changed: Any
) -> Row:
    """A valid upgrade request with these changes; None removes a header."""
    renamed = {key.replace("_", "-"): value for key, value in changed.items()}
    headers = {key: value for key, value in {**UPGRADE, **renamed}.items() if value is not None}
    method = headers.pop("method", "GET")
    head = Head(
        method=method,
        path=path,
        without=("accept", "content-type"),
        changed=tuple(headers.items()),
        framing=lambda body: ([], b""),
    )
    return on_http(name, b"", answer, because, head=head, display=display, setting=ALONE)


RULE = "RFC 6455, 4.2.1"


def rejected(status: int, text: str = "", header: str = "") -> Answer:
    return refused(status, text, after=After.CLOSED, header=header)


UPGRADES = [
    upgrade(
        "another version",
        "Sec-WebSocket-Version: 8",
        rejected(426, "send 13", "sec-websocket-version"),
        RULE,
        sec_websocket_version="8",
    ),
    upgrade(
        "no version",
        "no Sec-WebSocket-Version",
        rejected(426, "send 13"),
        RULE,
        sec_websocket_version=None,
    ),
    upgrade("no key", "no Sec-WebSocket-Key", rejected(400, "16 bytes"), RULE, sec_websocket_key=None),
    upgrade(
        "a key that is too short",
        "Sec-WebSocket-Key: c2hvcnQ=",
        rejected(400, "16 bytes"),
        RULE,
        sec_websocket_key="c2hvcnQ=",
    ),
    upgrade(
        "a key that is not Base64",
        "Sec-WebSocket-Key: !!!",
        rejected(400, "16 bytes"),
        RULE,
        sec_websocket_key="!!!",
    ),
    upgrade("by POST", "POST, Upgrade: websocket", rejected(400, "GET"), RULE, method="POST"),
    upgrade(
        "another path",
        "GET /mcp/socket",
        rejected(404, "no WebSocket endpoint at"),
        "not the path of a WebSocket",
        "/mcp/socket",
    ),
    upgrade(
        "another host",
        "Host: evil.example",
        rejected(421, "allowed_hosts"),
        "DNS rebinding",
        host="evil.example",
    ),
    upgrade(
        "another origin",
        "Origin: http://evil.example",
        rejected(403, "allowed_origins"),
        "browsers let any page open a WebSocket",
        origin="http://evil.example",
    ),
    upgrade(
        "other subprotocols only",
        "Sec-WebSocket-Protocol: graphql-ws",
        rejected(400, "offer mcp"),
        "the client does not speak MCP",
        sec_websocket_protocol="graphql-ws",
    ),
]


def text(payload: bytes, **options: Any) -> bytes:
    return frame(TEXT, payload, **{"mask": MASK, **options})


SECTION_5 = "RFC 6455, 5"
FRAMES = [
    on_websocket(
        "a binary frame", frame(BINARY, MESSAGE, mask=MASK), Ended(1003), "messages are text", "opcode 2"
    ),
    on_websocket("a frame without a mask", text(MESSAGE, mask=None), Ended(1002), f"{SECTION_5}.1", "MASK 0"),
    on_websocket(
        "a reserved bit", text(MESSAGE, rsv=4), Ended(1002), "no extension was negotiated", "RSV1 1"
    ),
    on_websocket(
        "an unknown opcode", frame(3, MESSAGE, mask=MASK), Ended(1002), f"{SECTION_5}.2", "opcode 3"
    ),
    on_websocket(
        "an unknown control opcode", frame(11, b"", mask=MASK), Ended(1002), f"{SECTION_5}.2", "opcode 11"
    ),
    on_websocket(
        "a continuation without a message",
        frame(CONTINUATION, MESSAGE, mask=MASK),
        Ended(1002),
        f"{SECTION_5}.4",
        "opcode 0",
    ),
    on_websocket(
        "a message inside a message",
        text(b"{", fin=False) + text(MESSAGE),
        Ended(1002),
        f"{SECTION_5}.4",
        "FIN 0, then opcode 1",
    ),
    on_websocket(
        "a message in fragments",
        text(MESSAGE[:9], fin=False)
        + frame(PING, b"", mask=MASK)
        + frame(CONTINUATION, b"", fin=False, mask=MASK)
        + frame(CONTINUATION, MESSAGE[9:], mask=MASK),
        (Served(1),),
        "any fragmentation is allowed, with pings in between",
        "three fragments and a ping",
    ),
    on_websocket(
        "a ping in fragments",
        frame(PING, b"", fin=False, mask=MASK),
        Ended(1002),
        f"{SECTION_5}.5",
        "opcode 9, FIN 0",
    ),
    on_websocket(
        "a ping of 126 bytes",
        frame(PING, b"x" * 126, mask=MASK),
        Ended(1002),
        f"{SECTION_5}.5",
        "opcode 9, 126 bytes",
    ),
    on_websocket(
        "a pong without a ping",
        frame(PONG, b"x", mask=MASK),
        (),
        "one-way heartbeats are allowed",
        "opcode 10",
    ),
    on_websocket("text that is not UTF-8", text(b"\xff"), Ended(1007), f"{SECTION_5}.6", "opcode 1, byte ff"),
    on_websocket(
        "a length in two bytes instead of one",
        b"\x81\xfe\x00\x7d" + MASK + b"x" * 125,
        Ended(1002),
        f"{SECTION_5}.2: the shortest form",
        "length 126, 125",
    ),
    on_websocket(
        "a length with its highest bit",
        b"\x81\xff" + b"\xff" * 8 + MASK,
        Ended(1002),
        f"{SECTION_5}.2",
        "length 2^64 - 1",
    ),
    on_websocket(
        "declared over the limit",
        b"\x81\xff" + (1 << 40).to_bytes(8, "big") + MASK,
        Ended(1009),
        "refused by its head, before the payload",
        "length 2^40",
    ),
    on_websocket(
        "over the limit in fragments",
        text(b"x" * MESSAGE_BYTES, fin=False) + frame(CONTINUATION, b"x", mask=MASK),
        Ended(1009),
        f"bounded by `limits.message_bytes`, here {MESSAGE_BYTES:,}",
        "100,000 bytes, then one",
    ),
    on_websocket(
        "a close",
        frame(CLOSE, b"\x03\xe8bye", mask=MASK),
        Ended(1000),
        "answered with its code",
        "opcode 8, 1000",
    ),
    on_websocket(
        "a close without a code",
        frame(CLOSE, b"", mask=MASK),
        Ended(1005),
        "answered without one",
        "opcode 8, empty",
    ),
    on_websocket(
        "a close with half a code",
        frame(CLOSE, b"\x03", mask=MASK),
        Ended(1002),
        f"{SECTION_5}.5.1",
        "opcode 8, byte 03",
    ),
    on_websocket(
        "a close with a code that is never sent",
        frame(CLOSE, b"\x03\xee", mask=MASK),
        Ended(1002),
        "RFC 6455, 7.4.1",
        "opcode 8, 1006",
    ),
    on_websocket(
        "a close whose reason is not UTF-8",
        frame(CLOSE, b"\x03\xe8\xff", mask=MASK),
        Ended(1007),
        "RFC 6455, 7.1.6",
        "opcode 8, 1000, byte ff",
    ),
    on_websocket(
        "HTTP instead of frames",
        b"GET /mcp HTTP/1.1\r\n\r\n",
        Ended(1002),
        "its first byte has a reserved bit",
        "GET /mcp HTTP/1.1",
    ),
]

SECTIONS = {"WebSocket upgrades": UPGRADES, "Frames": FRAMES}

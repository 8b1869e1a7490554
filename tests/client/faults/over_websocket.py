"""Faults of WebSocket servers."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

from websockets.asyncio.server import ServerConnection, serve

from assay import ClientState, ConnectionFailed, HttpFailure, InvalidAnswer, Timeout
from tests.client.faults.row import HASTY, Fault, Target, calling, opening
from tests.client.scripted import DISCOVERY, HttpRequest, Writer, http_response, raw_http

Behaviour = Callable[[ServerConnection], Awaitable[None]]
LOST: Final = ClientState.LOST
SWITCH: Final = "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"


def answered(make: Callable[[str], bytes]) -> Target:
    """A server that answers the handshake with these bytes; `make` gets the right Sec-WebSocket-Accept."""
    from assay.protocol.http.upgrade import accept_key

    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(make(accept_key(request.headers["sec-websocket-key"].encode()).decode()))

    @contextlib.asynccontextmanager
    async def target() -> AsyncIterator[str]:
        async with raw_http(respond) as server:
            yield server.url.replace("http", "ws")

    return target


def accepted(*headers: str) -> Target:
    lines = "".join(f"{header}\r\n" for header in headers)
    return answered(lambda key: f"{SWITCH}Sec-WebSocket-Accept: {key}\r\n{lines}\r\n".encode())


def on_call(behave: Behaviour) -> Target:
    async def answer(connection: ServerConnection) -> None:
        async for text in connection:
            message = json.loads(text)
            if message["method"] == "tools/call":
                await behave(connection)
            else:
                value = DISCOVERY if message["method"] == "server/discover" else {"tools": []}
                reply = {"jsonrpc": "2.0", "id": message["id"], "result": value}
                await connection.send(json.dumps(reply))

    @contextlib.asynccontextmanager
    async def target() -> AsyncIterator[str]:
        options: Any = {"subprotocols": ["mcp"], "compression": None}
        async with serve(answer, "127.0.0.1", 0, **options) as server:
            yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/mcp/ws"

    return target


def closing(code: int, reason: str = "") -> Target:
    return on_call(lambda connection: connection.close(code, reason))


async def drop(connection: ServerConnection) -> None:
    connection.transport.abort()


async def masked(connection: ServerConnection) -> None:
    connection.transport.write(b"\x81\x82\x00\x00\x00\x00{}")  # only clients mask


async def nothing(connection: ServerConnection) -> None:
    return


ROWS: Final[list[Fault]] = [
    opening(
        "the handshake is refused with 403",
        HttpFailure,
        "refuses this caller: check the credentials",
        answered(lambda key: http_response("403 Forbidden", b"go away", "text/plain")),
    ),
    opening(
        "a page instead of the handshake",
        HttpFailure,
        "the server does not accept a WebSocket here",
        answered(lambda key: http_response("200 OK", b"hello", "text/plain")),
    ),
    opening(
        "the handshake is not answered",
        ConnectionFailed,
        "no answer in time",
        answered(lambda key: b""),
        limits=HASTY,
    ),
    opening(
        "the handshake is answered with another key",
        InvalidAnswer,
        "Sec-WebSocket-Accept does not belong to this request",
        answered(lambda key: f"{SWITCH}Sec-WebSocket-Accept: x\r\n\r\n".encode()),
    ),
    opening(
        "the server selects a subprotocol that was not offered",
        InvalidAnswer,
        "it selects a subprotocol that was not offered",
        accepted("Sec-WebSocket-Protocol: chat"),
    ),
    opening(
        "the server selects an extension that was not offered",
        InvalidAnswer,
        "it selects an extension",
        accepted("Sec-WebSocket-Extensions: permessage-deflate"),
    ),
    calling(
        "the server closes with 1000", ConnectionFailed, "no reason given (1000)", closing(1000), state=LOST
    ),
    calling(
        "the server closes with 1001, going away",
        ConnectionFailed,
        "restarting (1001)",
        closing(1001, "restarting"),
        state=LOST,
    ),
    calling(
        "the server closes with 1008, a broken rule",
        ConnectionFailed,
        "too many messages (1008)",
        closing(1008, "too many messages"),
        state=LOST,
    ),
    calling(
        "the server closes with 1011, an internal error",
        ConnectionFailed,
        "no reason given (1011)",
        closing(1011),
        state=LOST,
    ),
    calling(
        "the connection ends without a closing handshake",
        ConnectionFailed,
        "the server closed the connection",
        on_call(drop),
        state=LOST,
    ),
    calling(
        "a frame that is masked, as only clients may",
        InvalidAnswer,
        "the server broke the WebSocket protocol",
        on_call(masked),
        state=LOST,
    ),
    calling(
        "a message above the limit",
        InvalidAnswer,
        "message too big: limit 10000 bytes",
        on_call(lambda connection: connection.send("x" * 20_000)),
        state=LOST,
    ),
    calling(
        "a binary message instead of an answer",
        Timeout,
        "no answer to tools/call in 0.5 s\n  not a message: (binary, 5 bytes)",
        on_call(lambda connection: connection.send(b"bytes")),
        timeout=0.5,
    ),
    calling(
        "half-open TCP: the server has vanished",
        Timeout,
        "no answer to tools/call in 0.2 s",
        on_call(nothing),
        timeout=0.2,
    ),
]

"""A server that does no work: every result is empty. It shows what a generator can do.

Run as `python -m assay.lab.load.bare_server stdio|http|ws`; on http and ws it prints its port first.
"""

from __future__ import annotations

import asyncio
import re
import sys
from typing import Final, cast

from assay.protocol.framing import websocket as ws

_ID: Final = re.compile(rb'"id":(\d+)')
_BODY: Final = b'{"jsonrpc":"2.0","id":%b,"result":{}}'
_OK: Final = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
_ACCEPTED: Final = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"
_SWITCH: Final = (
    b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
    b"sec-websocket-protocol: mcp\r\n\r\n"
)


class HttpAnswers(asyncio.Protocol):
    """Expects each request in one piece, as the generator writes it."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        match = _ID.search(data)
        if match is None:
            self._transport.write(_ACCEPTED)
        else:
            body = _BODY % match[1]
            self._transport.write(_OK % (len(body), body))


class WebSocketAnswers(asyncio.Protocol):
    def __init__(self) -> None:
        self._reader: ws.MessageReader | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._reader is None:
            self._reader = ws.MessageReader(1 << 20, masked=True)
            self._transport.write(_SWITCH)
            return
        for event in self._reader.feed(data):
            match = _ID.search(event.encode()) if isinstance(event, str) else None
            if match is not None:
                self._transport.write(ws.text_frame(_BODY % match[1]))


async def listen(kind: type[asyncio.Protocol]) -> None:
    server = await asyncio.get_running_loop().create_server(kind, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    # The generator closes the input when it has finished, or ends otherwise.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def answer_lines() -> None:
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        match = _ID.search(line)
        if match is not None:
            out.write(_BODY % match[1] + b"\n")
            out.flush()


def main(transport: str) -> None:
    if transport == "stdio":
        return answer_lines()
    work = listen(WebSocketAnswers if transport == "ws" else HttpAnswers)
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


if __name__ == "__main__":
    main(sys.argv[1])

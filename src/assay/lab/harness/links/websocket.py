"""WebSocket as a custom transport: one message per text frame, one conversation per connection."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha1
from typing import Any, Final

from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.recorder import MAX_BYTES, Flooded, Recorder
from assay.protocol.framing import websocket as ws
from assay.revisions.revision import Revision

from .broken_off import BrokenOff, ConnectionRejected, Gone, Unreachable
from .http_call import Address, HeadRead, connect, read_response
from .http_text import Head, with_bearer, write_request
from .identity import DEFAULT_IDENTITY, Identity
from .link import Inbox, Sent, note_unreachable

SUBPROTOCOL: Final = "mcp"
# Constants suffice: key and mask are required by RFC 6455 but protect nothing here.
KEY: Final = b64encode(b"assay lab driver").decode()
MASK: Final = b"\x5a\xa5\x3c\xc3"
PIECE: Final = 64 * 1024
GRACE: Final = 1.0
"""Seconds for the closing handshake at the end of a scenario."""
_CONTROLS: Final = {ws.PING: "ping", ws.PONG: "pong", ws.CLOSE: "close"}
GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class WebSocketLink:
    def __init__(
        self,
        url: str,
        inbox: Inbox,
        recorder: Recorder,
        revision: Revision,
        *,
        name: str,
        patience: float,
        headers: Mapping[str, str],
        identity: Identity = DEFAULT_IDENTITY,
    ) -> None:
        self.address = Address.of(url)
        self._identity = identity
        self._inbox = inbox
        self._recorder = recorder
        self._name = name
        self._channel = f"{name}/ws"
        self._patience = patience
        self._headers = dict(headers)
        self._closing = False
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._parts = bytearray()
        self._opcode = ws.TEXT

    @property
    def is_local(self) -> bool:
        return self.address.is_local

    def use_token(self, token: str | None) -> None:
        self._headers = with_bearer(self._headers, token)

    async def open(self) -> None:
        try:
            reader, self._writer = await connect(self.address, self._patience, self._identity)
        except Unreachable as reason:
            note_unreachable(self._recorder, self._name, reason, is_local=self.is_local)
            raise
        headers = {
            "Host": self.address.authority,
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": KEY,
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Protocol": SUBPROTOCOL,
            **self._headers,
        }
        data = write_request("GET", self.address.target, headers.items())
        self._recorder.record(Sender.DRIVER, self._channel, Kind.REQUEST, data)
        self._writer.write(data)
        answer = await self._handshake(reader)
        if answer.head.status != 101:
            raise ConnectionRejected(f"WebSocket refused with status {answer.head.status}", answer.raw)
        self._reading = asyncio.create_task(self._read(reader))

    async def _handshake(self, reader: asyncio.StreamReader) -> HeadRead:
        try:
            async with asyncio.timeout(self._patience):
                async for part in read_response(reader, "HEAD", upgrade=True):
                    if isinstance(part, HeadRead):
                        self._recorder.record(Sender.SUBJECT, self._channel, Kind.HEAD, part.raw)
                        return part
        except TimeoutError:
            raise Unreachable(f"no answer to the WebSocket handshake in {self._patience:g} s") from None
        raise Unreachable("the connection ended in the WebSocket handshake")

    def agreed(self, head: Head | None, version: str) -> None:
        """Nothing to do: the connection is the session."""

    async def send(self, body: bytes, message: Any, headers: Mapping[str, str | None]) -> Sent:
        self._recorder.record(Sender.DRIVER, self._channel, Kind.TEXT, body)
        return await self._write(ws.frame(ws.TEXT, body, mask=MASK))

    async def write(self, data: bytes, note: str) -> Sent:
        """Send raw bytes in place of a frame."""
        self._recorder.record(Sender.DRIVER, self._channel, Kind.CONTROL, data, what=note)
        return await self._write(data)

    async def _write(self, data: bytes) -> Sent:
        assert self._writer is not None
        try:
            self._writer.write(data)
            await self._writer.drain()
        except (ConnectionError, RuntimeError):
            raise Gone("the subject closed the WebSocket") from None
        sent = Sent(self._channel)
        sent.settle()
        return sent

    async def _read(self, reader: asyncio.StreamReader) -> None:
        frames = ws.FrameReader(MAX_BYTES)
        try:
            while data := await reader.read(PIECE):
                for frame in frames.feed(data):
                    self._take(frame)
        except BrokenOff as reason:
            self._inbox.fail(reason)
            return
        except OSError:
            self._recorder.record(Sender.SUBJECT, self._channel, Kind.END, clean=False)
        else:
            self._recorder.record(Sender.SUBJECT, self._channel, Kind.END, clean=frames.is_between)
        self._inbox.fail(Gone("the subject closed the WebSocket"))

    def _take(self, frame: ws.Frame | ws.Violation) -> None:
        if isinstance(frame, ws.Violation):
            self._note(b"", what="violation", reason=frame.reason)
        elif frame.opcode in ws.DATA:
            self._take_data(frame)
        else:
            self._note(frame.payload, what=_CONTROLS.get(frame.opcode, f"opcode {frame.opcode}"))
            self._answer(frame)

    def _take_data(self, frame: ws.Frame) -> None:
        if frame.opcode != ws.CONTINUATION:
            self._opcode, self._parts = frame.opcode, bytearray()
        self._parts += frame.payload
        if len(self._parts) > MAX_BYTES:
            raise Flooded
        if not frame.fin:
            return
        kind = Kind.TEXT if self._opcode == ws.TEXT else Kind.BINARY
        body = bytes(self._parts)
        recorded = self._recorder.record(Sender.SUBJECT, self._channel, kind, body)
        if kind is Kind.TEXT:
            self._inbox.deliver(recorded, body)

    def _answer(self, frame: ws.Frame) -> None:
        assert self._writer is not None
        if frame.opcode == ws.PING:
            self._writer.write(ws.frame(ws.PONG, frame.payload, mask=MASK))
        elif frame.opcode == ws.CLOSE and not self._closing:
            self._closing = True
            self._writer.write(ws.frame(ws.CLOSE, frame.payload, mask=MASK))

    def _note(self, raw: bytes, **info: Any) -> None:
        self._recorder.record(Sender.SUBJECT, self._channel, Kind.CONTROL, raw, **info)

    async def close(self) -> None:
        if self._writer is None:
            return
        if not self._closing and self._reading is not None:
            self._closing = True
            self._writer.write(ws.close_frame(mask=MASK))
            await asyncio.wait({self._reading}, timeout=GRACE)
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        self._writer.close()


def accept_headers(key: str, *subprotocols: str) -> list[tuple[str, str]]:
    """The headers of the response to an upgrade request with this key."""
    accept = b64encode(sha1(key.encode() + GUID).digest()).decode()
    chosen = [("Sec-WebSocket-Protocol", subprotocol) for subprotocol in subprotocols]
    return [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept), *chosen]

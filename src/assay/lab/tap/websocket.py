"""WebSocket messages in the two streams of a connection."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.trace.frame import Kind, Sender
from assay.protocol.framing import websocket as ws

from .conversation import Conversation

_CONTROLS: Final = {ws.PING: "ping", ws.PONG: "pong", ws.CLOSE: "close"}
COMPRESSED: Final = 4
"""The first reserved bit: the message is compressed (RFC 7692)."""


class WebSocketStream:
    """One direction."""

    def __init__(self, conversation: Conversation | None, sender: Sender, channel: str, largest: int) -> None:
        self._conversation = conversation
        self._sender = sender
        self._channel = channel
        self._largest = largest
        self._frames = ws.FrameReader(largest)
        self._parts = bytearray()
        self._opcode = ws.TEXT
        self._size = 0
        self._compressed = False
        self._is_over = False

    def feed(self, data: bytes) -> None:
        for frame in () if self._is_over else self._frames.feed(data):
            if isinstance(frame, ws.Violation):
                self._frames.drop()
                self._is_over = True
                self._gap(f"a frame that cannot be read: {frame.reason}")
                return
            self._take(frame)

    def _take(self, frame: ws.Frame) -> None:
        if frame.opcode not in ws.DATA:
            name = _CONTROLS.get(frame.opcode, f"opcode {frame.opcode}")
            self._record(Kind.CONTROL, frame.payload, what=name)
            return
        if frame.opcode != ws.CONTINUATION:
            self._opcode, self._parts, self._size = frame.opcode, bytearray(), 0
            self._compressed = bool(frame.rsv & COMPRESSED)
        self._size += len(frame.payload)
        if self._size <= self._largest:
            self._parts += frame.payload
        if not frame.fin:
            return
        if self._compressed or self._size > self._largest:
            reason = "it is compressed" if self._compressed else f"it has {self._size} bytes"
            self._gap(f"a message: {reason}")
        else:
            self._record(Kind.TEXT if self._opcode == ws.TEXT else Kind.BINARY, bytes(self._parts))
        self._parts = bytearray()

    def end(self, *, clean: bool) -> None:
        self._record(Kind.END, clean=clean and self._frames.is_between)

    def _record(self, kind: Kind, raw: bytes = b"", **info: Any) -> None:
        if self._conversation is not None:
            self._conversation.record(self._sender, self._channel, kind, raw, **info)

    def _gap(self, reason: str) -> None:
        if self._conversation is not None:
            self._conversation.gap(self._sender, self._channel, reason)

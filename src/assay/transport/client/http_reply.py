"""The response to one HTTP request of a client: a message, a stream of messages, or neither."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cached_property
from typing import Final

from msgspec import UNSET

from assay.model.client_error import ClientError, ConnectionFailed, InvalidAnswer, visible
from assay.model.client_limits import ClientLimits
from assay.model.error import MalformedMessage
from assay.model.jsonrpc import Envelope
from assay.model.limits import Limits
from assay.protocol.codec import decode
from assay.protocol.framing.sse import SseParser, SseTooLong

EVENT_STREAM: Final = "text/event-stream"
REFUSAL_BYTES: Final = 64 * 1024
"""Of the body of a response that is not a success: enough for any error."""
SHOWN_BYTES: Final = 200


class HttpReply:
    """Collects a body, or passes on the messages of a stream as they arrive.

    `done` is settled when nothing more is needed: at the end of the response, or with the answer to
    `request_id` on a stream, which the server may leave open.
    """

    status = 0
    is_success = False
    media_type = ""
    is_stream = False
    answered = False
    """Whether a stream has brought the answer."""
    on_stream: Callable[[], None] | None = None
    """Called when the head of a stream has arrived."""
    peer = ""
    """The address of the server, for a response that refuses a request."""
    untouched = False
    """Whether the connection ended before any of the response arrived."""

    def __init__(
        self,
        limits: ClientLimits,
        codec: Limits,
        receive: Callable[[Envelope], None],
        request_id: object = None,
    ) -> None:
        self._limits = limits
        self._codec = codec
        self._receive = receive
        self._request_id = request_id
        self.headers: dict[str, str] = {}
        self._body: bytes | bytearray = b""
        self._size = 0
        self._most = limits.message_bytes
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @cached_property
    def events(self) -> SseParser:
        """The parser of a stream; most responses are none."""
        return SseParser(self._limits.message_bytes)

    @property
    def body(self) -> bytes:
        return bytes(self._body)

    def on_head(self, status: int, headers: dict[str, str]) -> None:
        self.status, self.headers = status, headers
        self.is_success = 200 <= status < 300
        self.media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise InvalidAnswer(
                f"the server compressed its answer ({headers['content-encoding']}), which was not asked for"
            )
        self.is_stream = self.is_success and self.media_type == EVENT_STREAM
        if not self.is_success:
            self._most = min(self._most, REFUSAL_BYTES)
        length = headers.get("content-length", "0")
        if self.is_success and length.isdecimal() and len(length) < 20 and int(length) > self._most:
            raise self._too_large()
        if self.is_stream and self.on_stream is not None:
            self.on_stream()

    def on_body(self, data: bytes) -> None:
        if self.is_stream:
            self._feed(data)
            return
        self._size += len(data)
        if self._size > self._most:
            if self.is_success:
                raise self._too_large()
            self._finish()  # the beginning of a refusal is enough
            return
        if not self._body:
            self._body = data  # nearly always the whole body
        else:
            if isinstance(self._body, bytes):
                self._body = bytearray(self._body)
            self._body += data

    def _too_large(self) -> InvalidAnswer:
        return InvalidAnswer(
            f"the server's answer exceeds limits.message_bytes: {self._limits.message_bytes} bytes"
        )

    def _feed(self, data: bytes) -> None:
        try:
            events = self.events.feed(data)
        except SseTooLong as error:
            for event in error.events:
                self.take(event.data)
            raise self._too_large() from error
        for event in events:
            # The event that starts a resumable stream has an id and no data.
            if event.event == "message" and event.data:
                self.take(event.data)
        if self.answered:
            self._finish()

    def take(self, data: bytes) -> bool:
        """Pass on a message or a batch. Returns whether the answer has arrived.

        Raises:
            InvalidAnswer: it is neither.
        """
        try:
            decoded = decode(data, self._codec)
        except MalformedMessage as error:
            raise InvalidAnswer(
                f"the server's answer is not a message: {error.message}{_beginning(data)}"
            ) from None
        for message in decoded if isinstance(decoded, list) else (decoded,):
            if isinstance(message, MalformedMessage):
                raise InvalidAnswer(f"the server sent an invalid message: {message.message}")
            if message.method is UNSET:
                if message.id is UNSET and isinstance(self._request_id, str):
                    message.id = self._request_id  # an error to a request whose id the server did not read
                self.answered = self.answered or message.id == self._request_id
            self._receive(message)
        return self.answered

    def on_end(self) -> None:
        self._finish()

    def on_lost(self, error: ClientError, *, untouched: bool) -> None:
        self.untouched = untouched
        if self.is_stream and self.events.last_event_id and isinstance(error, ConnectionFailed):
            # A server that died in the midst of a stream, or a proxy. As after its end, another connection
            # may bring what follows the last event.
            self._finish()
        if not self.done.done():
            self.done.set_exception(error)

    def _finish(self) -> None:
        if not self.done.done():
            self.done.set_result(None)


def _beginning(data: bytes) -> str:
    text = data[:SHOWN_BYTES].decode(errors="replace")
    return f"\n  it begins with: {visible(text)}" if text.strip() else "\n  it is empty"

"""One HTTP/1.1 connection of a client: writes a request, parses its response, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol, cast

import httptools

from assay.model.client_error import ClientError, ConnectionFailed, InvalidAnswer


class Response(Protocol):
    """Takes the parts of one response."""

    def on_head(self, status: int, headers: dict[str, str]) -> None: ...

    def on_body(self, data: bytes) -> None: ...

    def on_end(self) -> None: ...

    def on_lost(self, error: ClientError, *, untouched: bool) -> None:
        """The connection ended before the response did; `untouched` if none of it had arrived."""


class HttpConnection(asyncio.Protocol):
    """`on_idle` is called when the connection can serve another request, `on_closed` when it has ended."""

    reused = False
    idle_since = 0.0

    def __init__(
        self,
        head_bytes: int,
        on_idle: Callable[[HttpConnection], None],
        on_closed: Callable[[HttpConnection], None],
    ) -> None:
        self._head_bytes = head_bytes
        self._on_idle = on_idle
        self._on_closed = on_closed
        self._response: Response | None = None
        self._failure: ClientError | None = None
        self.is_open = False
        self.closed = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.is_open = True

    @property
    def peer(self) -> str:
        """The address of the server."""
        name = self._transport.get_extra_info("peername")
        return str(name[0]) if isinstance(name, tuple) else ""

    def exchange(self, request: bytes, response: Response) -> None:
        """Send a request; its response goes to `response`."""
        if not self.is_open:  # it closed while the caller waited for its turn
            response.on_lost(ConnectionFailed("the server closed the connection at once"), untouched=True)
            return
        self._response = response
        self._headers: dict[str, str] = {}
        self._has_head = self._informational = False
        self._unproductive = self._received = 0
        self._parser = httptools.HttpResponseParser(self)
        self._transport.write(request)

    def abort(self) -> None:
        """End the connection now; a response in progress is forgotten."""
        self._response = None
        if self.is_open:
            self.is_open = False
            self._transport.abort()

    @property
    def is_usable(self) -> bool:
        return self.is_open and not self._transport.is_closing()

    @property
    def is_idle(self) -> bool:
        """Whether no response is in progress."""
        return self._response is None

    def abort_if(self, response: Response) -> None:
        """End the connection if this response still has not ended."""
        if self._response is response:
            self.abort()

    def data_received(self, data: bytes) -> None:
        if self._response is None:
            self.abort()  # nothing was requested
            return
        self._received += len(data)
        # Heads, chunk sizes and trailers take memory without being a body.
        self._unproductive += len(data)
        if not self._has_head and self._unproductive > self._head_bytes + len(data):
            return self.fail(self._too_long())
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.fail(InvalidAnswer("the server switched protocols without being asked"))
        except httptools.HttpParserError as error:
            cause = error.__context__
            failure = cause if isinstance(cause, ClientError) else None
            self.fail(failure or InvalidAnswer(f"the server's HTTP response is invalid: {error}"))
        else:
            if self._unproductive > self._head_bytes and self._response is not None:
                self.fail(self._too_long())

    def _too_long(self) -> InvalidAnswer:
        return InvalidAnswer(
            f"the head of the server's HTTP response exceeds limits.head_bytes: {self._head_bytes} bytes"
        )

    def fail(self, error: ClientError) -> None:
        """End the connection, and its response with this error."""
        response, self._response = self._response, None
        self.abort()
        if response is not None:
            response.on_lost(error, untouched=False)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        response, self._response = self._response, None
        if response is not None:
            self._end_cut(response, exc)
        self._on_closed(self)
        if not self.closed.done():
            self.closed.set_result(None)

    def _end_cut(self, response: Response, error: Exception | None) -> None:
        """The connection ended during a response: its end, if it has no length."""
        unmeasured = not {"content-length", "transfer-encoding"} & self._headers.keys()
        if error is None and self._has_head and unmeasured:
            response.on_end()
            return
        reason = f": {error}" if error is not None else ""
        failure = ConnectionFailed(f"the server closed the connection before the answer was complete{reason}")
        failure.__cause__ = error
        response.on_lost(failure, untouched=not self._received)

    # Callbacks of the parser.

    def on_message_begin(self) -> None:
        if self._response is None:
            self.abort()  # a second response: the next request must not get it

    def on_header(self, name: bytes, value: bytes) -> None:
        key = name.decode("latin-1").lower()
        text = value.decode("latin-1")
        self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        self._informational = status < 200
        if self._informational:
            self._headers = {}
            return
        self._has_head = True
        if self._response is not None:
            self._response.on_head(status, self._headers)

    def on_body(self, data: bytes) -> None:
        self._unproductive = 0
        if self._response is not None:
            self._response.on_body(data)

    def on_message_complete(self) -> None:
        if self._informational:
            return
        response, self._response = self._response, None
        if self.is_open:
            if self._parser.should_keep_alive():
                self._on_idle(self)
            else:
                self.abort()
        if response is not None:
            response.on_end()

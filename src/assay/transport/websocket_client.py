"""A WebSocket client: sends and receives text messages, and reports how the connection ended."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from assay.model.error import AssayError, MissingExtra
from assay.model.limits import Limits
from assay.protocol.framing.websocket import LOST, NORMAL, UNSUPPORTED
from assay.protocol.http.upgrade import SUBPROTOCOL

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

SCHEMES: Final = ("ws://", "wss://")


class ConnectionFailed(AssayError, ConnectionError):
    """The connection could not be opened. `status` is that of the HTTP response, if the server sent one."""

    def __init__(self, url: str, reason: str, status: int | None = None) -> None:
        super().__init__(url, reason, status)
        self.url = url
        self.reason = reason
        self.status = status

    def __str__(self) -> str:
        return f"cannot connect to {self.url}: {self.reason}"


class ConnectionEnded(AssayError, ConnectionError):
    """The connection has ended."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason

    def __str__(self) -> str:
        return f"the connection has ended: {self.reason or 'no reason given'} ({self.code})"


class CloseStatus(NamedTuple):
    """The close code and reason of a connection; 1006 if it ended without a close frame."""

    code: int
    reason: str


class WebSocketClient:
    """Created by `connect`. Iterate over it for the server's messages, until the connection ends."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    @classmethod
    async def connect(
        cls,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        tls: ssl.SSLContext | None = None,
        timeout: float = 10.0,
        keep_alive: float | None = 20.0,
    ) -> Self:
        """Open a connection. `limits.message_bytes` bounds one message from the server. `keep_alive` is the
        interval of pings in seconds, and the time that the server has to answer one.

        Raises:
            ConnectionFailed: it could not be opened, or was refused.
            MissingExtra: websockets is not installed.
        """
        try:
            from websockets.asyncio.client import connect
            from websockets.exceptions import InvalidStatus, WebSocketException
            from websockets.typing import Subprotocol
        except ImportError:
            raise MissingExtra('WebSocket clients need websockets: pip install "assay-mcp[ws]"') from None
        if not url.startswith(SCHEMES):
            raise ConnectionFailed(url, f"the URL must start with {' or '.join(SCHEMES)}")
        opening = connect(
            url,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            additional_headers=headers,
            # Messages are short, and a small compressed message could decompress to a huge one.
            compression=None,
            ssl=tls,
            open_timeout=timeout,
            close_timeout=timeout,
            ping_interval=keep_alive,
            ping_timeout=keep_alive,
            max_size=(limits or Limits()).message_bytes,
        )
        try:
            return cls(await opening)
        except InvalidStatus as error:
            status = error.response.status_code
            raise ConnectionFailed(url, f"refused with HTTP status {status}", status) from error
        except (WebSocketException, OSError, TimeoutError) as error:
            raise ConnectionFailed(url, str(error) or type(error).__name__) from error

    @property
    def subprotocol(self) -> str | None:
        """The subprotocol that the server selected; none from servers without subprotocols."""
        return self._connection.subprotocol

    @property
    def ended(self) -> CloseStatus | None:
        """The close status; none while the connection is open."""
        if self._connection.close_code is None:
            return None
        error = self._connection.protocol.close_exc
        # After a protocol error by the server, only our own close frame has the reason.
        frame = error.rcvd or error.sent
        return CloseStatus(LOST, "") if frame is None else CloseStatus(int(frame.code), frame.reason)

    async def send(self, message: bytes) -> None:
        """Send one message; waits while the server does not read.

        Raises:
            ConnectionEnded: the connection is closed.
        """
        from websockets.exceptions import ConnectionClosed

        try:
            await self._connection.send(message.decode())
        except ConnectionClosed as error:
            raise self._ended() from error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        from websockets.exceptions import ConnectionClosed

        while True:
            try:
                message = await self._connection.recv()
            except ConnectionClosed:
                return
            if not isinstance(message, str):
                await self.close(UNSUPPORTED, "messages are text")
                return
            yield message.encode()

    async def ping(self) -> float:
        """Ping the server, and return the round-trip time in seconds.

        Raises:
            ConnectionEnded: the connection is closed.
        """
        from websockets.exceptions import ConnectionClosed

        try:
            return await (await self._connection.ping())
        except ConnectionClosed as error:
            raise self._ended() from error

    async def close(self, code: int = NORMAL, reason: str = "") -> None:
        """Close the connection. Idempotent."""
        await self._connection.close(code, reason)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _ended(self) -> ConnectionEnded:
        return ConnectionEnded(*(self.ended or CloseStatus(LOST, "")))

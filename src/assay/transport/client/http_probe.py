"""One HTTP request on a new connection, and the beginning of its response: for diagnoses."""

from __future__ import annotations

import asyncio
import ssl
from typing import Final, NamedTuple

from assay.model.client_error import ClientError
from assay.model.client_limits import ClientLimits

from .connect import connect
from .http_connection import HttpConnection
from .http_head import request_head
from .url import Address

BODY_BYTES: Final = 64 * 1024
"""Of a body; what follows is not read."""


class ProbeReply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes
    peer: str = ""
    """The address of the server."""

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class _Collector:
    def __init__(self) -> None:
        self._status = 0
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def reply(self) -> ProbeReply:
        return ProbeReply(self._status, self._headers, bytes(self._body))

    def on_head(self, status: int, headers: dict[str, str]) -> None:
        self._status, self._headers = status, headers
        if self.reply.media_type == "text/event-stream":
            self.on_end()  # it may stay open for ever

    def on_body(self, data: bytes) -> None:
        self._body += data[: BODY_BYTES - len(self._body)]
        if len(self._body) >= BODY_BYTES:
            self.on_end()

    def on_end(self) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def on_lost(self, error: ClientError, *, untouched: bool) -> None:
        if not self.done.done():
            self.done.set_exception(error)


async def probe(
    method: str,
    address: Address,
    lines: str,
    body: bytes,
    tls: ssl.SSLContext | None,
    limits: ClientLimits,
    hosts: list[str] | None = None,
) -> ProbeReply:
    """Send a request with these lines of its head. Redirects are not followed.

    Args:
        hosts: IP addresses to connect to, if they were looked up and checked already.

    Raises:
        ClientError: no connection, or no valid response.
    """
    connection = await connect(
        lambda: HttpConnection(limits.head_bytes, lambda _: None, lambda _: None),
        address,
        tls,
        limits.connect_timeout,
        hosts,
    )
    collector = _Collector()
    head = request_head(method, address, f"{lines}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n")
    try:
        connection.exchange(head.encode("latin-1") + body, collector)
        await collector.done
    finally:
        connection.abort()
    return collector.reply._replace(peer=connection.peer)

"""The client's HTTP requests, to the endpoint and to other URLs: a connection for each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.links.http_call import Address, Ended, HeadRead, PieceRead, connect, read_response
from assay.lab.harness.links.http_text import Head, write_request
from assay.lab.harness.sabotage.saboteur import Request

from .failure import ConnectionBroken

if TYPE_CHECKING:
    from .client import ScriptedClient

Headers = Iterable[tuple[str, str]]
PATIENCE: Final = 5.0
UNSENT: Final = Head(("HTTP/1.1", "202", "Accepted"), ())
"""The response to a request that a saboteur suppressed."""


class WebResponse(Struct, frozen=True):
    head: Head
    body: bytes

    @property
    def status(self) -> int:
        return self.head.status


class StreamedResponse:
    """A response of which the head has been received."""

    def __init__(self, head: Head, parts: AsyncIterator[HeadRead | PieceRead | Ended] | None = None) -> None:
        self.head = head
        self._parts = parts

    @property
    def status(self) -> int:
        return self.head.status

    async def pieces(self) -> AsyncIterator[bytes]:
        """
        Raises:
            ConnectionBroken: the connection ended inside the body.
        """
        if self._parts is None:
            return
        async for part in self._parts:
            if isinstance(part, PieceRead):
                yield part.data
            elif isinstance(part, Ended) and part.problem is not None:
                raise ConnectionBroken(part.problem)

    async def read(self) -> WebResponse:
        return WebResponse(self.head, b"".join([piece async for piece in self.pieces()]))


class WebClient:
    def __init__(self, client: ScriptedClient) -> None:
        self._client = client

    @asynccontextmanager
    async def call(
        self, method: str, url: str, headers: Headers = (), body: bytes = b""
    ) -> AsyncIterator[StreamedResponse]:
        """
        Raises:
            ConnectionBroken: the connection failed, or ended before the response head.
        """
        address = Address.of(url)
        request = self._altered(method, address, headers, body)
        if request is None:
            yield StreamedResponse(UNSENT)
            return
        try:
            reader, writer = await connect(address, PATIENCE)
        except Unreachable as reason:
            raise ConnectionBroken(str(reason)) from None
        try:
            writer.write(write_request(request.method, request.target, request.headers, request.body))
            await writer.drain()
            parts = read_response(reader, request.method)
            first = await anext(parts)
            if not isinstance(first, HeadRead):
                raise ConnectionBroken(str(getattr(first, "problem", "no response")))
            yield StreamedResponse(first.head, parts)
        except ConnectionError as error:
            raise ConnectionBroken(f"the connection broke: {error}") from None
        finally:
            writer.close()

    async def fetch(self, method: str, url: str, headers: Headers = (), body: bytes = b"") -> WebResponse:
        """A whole exchange; redirects are not followed.

        Raises:
            ConnectionBroken: no complete response arrived in time.
        """
        patience = self._client.behaviour.patience
        try:
            async with asyncio.timeout(patience), self.call(method, url, headers, body) as reply:
                return await reply.read()
        except TimeoutError:
            raise ConnectionBroken(f"no response from {url} within {patience:g} s") from None

    def _altered(self, method: str, address: Address, headers: Headers, body: bytes) -> Request | None:
        """The request to send. Saboteurs of HTTP requests act here."""
        pairs = [("Host", address.authority), *headers, ("Connection", "close")]
        request = Request(headers=pairs, method=method, target=address.target, body=body)
        hook = self._client.saboteur.request if self._client.saboteur else None
        altered = request if hook is None else hook(request, self._client)
        if altered is None:
            return None
        if altered.header("content-length") is None and (altered.body or method == "POST"):
            altered.set("Content-Length", str(len(altered.body)))
        return altered

"""HTTP as the client speaks it, to its endpoint and to other addresses: one connection per request."""

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

from .failure import Broken

if TYPE_CHECKING:
    from .client import ScriptedClient

Headers = Iterable[tuple[str, str]]
PATIENCE: Final = 5.0
UNSENT: Final = Head(("HTTP/1.1", "202", "Accepted"), ())
"""Stands for the answer to a request that a fault has swallowed."""


class Response(Struct, frozen=True):
    head: Head
    body: bytes

    @property
    def status(self) -> int:
        return self.head.status


class Reply:
    """A response whose head has come."""

    def __init__(self, head: Head, parts: AsyncIterator[HeadRead | PieceRead | Ended] | None = None) -> None:
        self.head = head
        self._parts = parts

    @property
    def status(self) -> int:
        return self.head.status

    async def pieces(self) -> AsyncIterator[bytes]:
        """
        Raises:
            Broken: the connection ended inside the body.
        """
        if self._parts is None:
            return
        async for part in self._parts:
            if isinstance(part, PieceRead):
                yield part.data
            elif isinstance(part, Ended) and part.problem is not None:
                raise Broken(part.problem)

    async def read(self) -> Response:
        return Response(self.head, b"".join([piece async for piece in self.pieces()]))


class Web:
    def __init__(self, client: ScriptedClient) -> None:
        self._client = client

    @asynccontextmanager
    async def call(
        self, method: str, url: str, headers: Headers = (), body: bytes = b""
    ) -> AsyncIterator[Reply]:
        """
        Raises:
            Broken: there is no connection, or it ends before the response's head.
        """
        address = Address.of(url)
        request = self._changed(method, address, headers, body)
        if request is None:
            yield Reply(UNSENT)
            return
        try:
            reader, writer = await connect(address, PATIENCE)
        except Unreachable as reason:
            raise Broken(str(reason)) from None
        try:
            writer.write(write_request(request.method, request.target, request.headers, request.body))
            await writer.drain()
            parts = read_response(reader, request.method)
            first = await anext(parts)
            if not isinstance(first, HeadRead):
                raise Broken(str(getattr(first, "problem", "no response")))
            yield Reply(first.head, parts)
        except ConnectionError as error:
            raise Broken(f"the connection broke: {error}") from None
        finally:
            writer.close()

    async def fetch(self, method: str, url: str, headers: Headers = (), body: bytes = b"") -> Response:
        """One whole exchange; nothing is followed.

        Raises:
            Broken: there is no whole response in time.
        """
        patience = self._client.behaviour.patience
        try:
            async with asyncio.timeout(patience), self.call(method, url, headers, body) as reply:
                return await reply.read()
        except TimeoutError:
            raise Broken(f"no response of {url} within {patience:g} s") from None

    def _changed(self, method: str, address: Address, headers: Headers, body: bytes) -> Request | None:
        """The request as it goes out: the one place where a fault meets HTTP requests."""
        pairs = [("Host", address.authority), *headers, ("Connection", "close")]
        request = Request(headers=pairs, method=method, target=address.target, body=body)
        hook = self._client.saboteur.request if self._client.saboteur else None
        changed = request if hook is None else hook(request, self._client)
        if changed is None:
            return None
        if changed.header("content-length") is None and (changed.body or method == "POST"):
            changed.set("Content-Length", str(len(changed.body)))
        return changed

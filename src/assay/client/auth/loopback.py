"""Receives the redirect of an authorization on this machine (RFC 8252, 7.3)."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from typing import Final
from urllib.parse import parse_qs, urlsplit

from assay.model.client_error import AuthorizationFailed

HEAD_BYTES: Final = 16 * 1024
CONNECTIONS: Final = 16
READ_SECONDS: Final = 10.0
PATH: Final = "/callback"
HOSTS: Final = frozenset({"127.0.0.1", "localhost"})
PAGE: Final = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>Authorization</title>"
    "<p>The program has received the answer. You can close this page.</p></html>"
)


class LoopbackListener:
    """An HTTP server for one redirect. Only a GET of the redirect URI with the right `state` ends it: any
    page that the user has open can send requests here."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._state: str | None = None
        self._connections: dict[asyncio.Task[None], asyncio.WriteTransport] = {}

    async def open(self, preferred: str | None, fixed: str | None) -> str:
        """Listen, at the port of an earlier redirect URI if it is free. Returns the redirect URI.

        Raises:
            AuthorizationFailed: the port that the user chose is in use.
        """
        self._answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        wish = fixed or preferred
        port = _port(wish)
        try:
            await self._listen(port)
        except OSError as error:
            if fixed is not None or not port:
                raise AuthorizationFailed(
                    f"cannot listen for the redirect on 127.0.0.1:{port}: {error.strerror}; choose another"
                    " redirect_uri="
                ) from error
            wish = None
            await self._listen(0)
        assert self._server is not None
        bound = self._server.sockets[0].getsockname()[1]
        self._uri = wish if wish is not None and port else f"http://127.0.0.1:{bound}{PATH}"
        return self._uri

    async def _listen(self, port: int) -> None:
        # In two steps: if this is cancelled while the server starts, `close` knows its socket.
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", port, limit=HEAD_BYTES, start_serving=False
        )
        await self._server.start_serving()

    def expect(self, state: str) -> None:
        """Accept the redirect with this `state`."""
        self._state = state

    async def wait(self) -> str:
        """The URL of the redirect."""
        return await self._answer

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for transport in self._connections.values():
            transport.abort()
        if self._connections:
            await asyncio.wait(list(self._connections), timeout=1.0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = writer.transport
        try:
            if len(self._connections) <= CONNECTIONS:
                async with asyncio.timeout(READ_SECONDS):
                    await self._answer_request(reader, writer)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # not a browser, or one that left
        finally:
            del self._connections[task]
            writer.close()

    async def _answer_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        url = self._redirect_in(head)
        status = "404 Not Found" if url is None else "200 OK"
        body = "" if url is None else PAGE
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
            "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n"
            f"Content-Security-Policy: default-src 'none'\r\n\r\n{body}".encode()
        )
        await writer.drain()
        if url is not None and not self._answer.done():
            self._answer.set_result(url)

    def _redirect_in(self, head: str) -> str | None:
        """The redirect that a request carries; None for any other request."""
        request, *lines = head.split("\r\n")
        method, _, rest = request.partition(" ")
        target = rest.partition(" ")[0]
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)
        }
        expected = urlsplit(self._uri)
        with contextlib.suppress(ValueError):
            host = urlsplit(f"//{headers.get('host', '')}").hostname
            parts = urlsplit(target)
            state = parse_qs(parts.query, max_num_fields=50).get("state", [])
            ours = len(state) == 1 and hmac.compare_digest(state[0].encode(), (self._state or "").encode())
            if method == "GET" and host in HOSTS and parts.path == expected.path and self._state and ours:
                return f"{self._uri}?{parts.query}"
        return None


def _port(uri: str | None) -> int:
    return 0 if uri is None else urlsplit(uri).port or 0

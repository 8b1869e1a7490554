"""A protected server on a free port, and raw requests to it, over HTTP and to open a WebSocket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from assay import Context, Server
from assay.auth import Auth
from tests.auth.issuer import RESOURCE, Issuer
from tests.driving.answer import PATIENCE
from tests.driving.hosts import on_assay
from tests.driving.messages import call

HTTP, WS = "http", "ws"
TARGETS = {HTTP: ("POST", RESOURCE), WS: ("GET", f"{RESOURCE}/ws")}
"""The method and URL that a proof must name; on a WebSocket, those of the opening request."""
UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
POSTED = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
BODY = json.dumps(call("greet", 7)).encode()


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Endpoint:
    """A running server. `greeted` lists the principals for which the handler ran."""

    port: int
    greeted: list[Any]

    async def request(self, transport: str, headers: list[tuple[str, str]], query: str = "") -> Reply:
        method, url = TARGETS[transport]
        own = UPGRADE if transport == WS else {**POSTED, "Content-Length": str(len(BODY))}
        pairs = [("Host", "localhost"), *own.items(), *headers]
        lines = [f"{name}: {value}" for name, value in pairs]
        path = url.removeprefix("http://localhost:3000") + query
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode("latin-1")
        return await self.send(head + (b"" if transport == WS else BODY))

    async def send(self, request: bytes) -> Reply:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            async with asyncio.timeout(PATIENCE):
                first, *rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
                headers = dict(line.lower().split(": ", 1) for line in rest if line)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
            original = {name: line.split(": ", 1)[1] for name, line in zip(headers, rest, strict=False)}
            return Reply(int(first.split()[1]), original, body)
        finally:
            writer.close()


def make_server(greeted: list[Any], **options: Any) -> Server:
    server = Server("protected", "1", **options)

    @server.tool
    def greet(ctx: Context) -> str:
        greeted.append(ctx.scope.principal)
        return f"hello {ctx.scope.principal}"

    return server


@asynccontextmanager
async def protected(issuer: Issuer, **options: Any) -> AsyncIterator[Endpoint]:
    """A server that requires a token from the issuer."""
    settings = {"issuer": issuer.url, "audience": RESOURCE, "jwks": issuer.jwks, "scopes": ["use"], **options}
    greeted: list[Any] = []
    async with on_assay(make_server(greeted, auth=Auth(**settings)).asgi()) as port:
        yield Endpoint(port, greeted)


def bearer(token: str) -> list[tuple[str, str]]:
    return [("Authorization", f"Bearer {token}")]


def dpop(token: str, *proofs: str) -> list[tuple[str, str]]:
    return [("Authorization", f"DPoP {token}"), *(("DPoP", proof) for proof in proofs)]

"""A protected server on a free port, and a client that knocks with any bytes: by HTTP or for a WebSocket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from assay import Context, Server
from assay.auth import Auth
from tests.auth.issuing import RESOURCE, Issuer
from tests.driving.answer import PATIENCE
from tests.driving.hosts import on_assay
from tests.driving.messages import call

HTTP, WS = "http", "ws"
PLACES = {HTTP: ("POST", RESOURCE), WS: ("GET", f"{RESOURCE}/ws")}
"""What a proof must be for: on a WebSocket, for the request that opens it."""
UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
POSTED = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
BODY = json.dumps(call("greet", 7)).encode()


class Heard(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Door:
    """Where to knock. `greeted` is for whom a handler has run."""

    port: int
    greeted: list[Any]

    async def knock(self, transport: str, headers: list[tuple[str, str]], query: str = "") -> Heard:
        method, place = PLACES[transport]
        own = UPGRADE if transport == WS else {**POSTED, "Content-Length": str(len(BODY))}
        pairs = [("Host", "localhost"), *own.items(), *headers]
        lines = [f"{name}: {value}" for name, value in pairs]
        path = place.removeprefix("http://localhost:3000") + query
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode("latin-1")
        return await self.say(head + (b"" if transport == WS else BODY))

    async def say(self, request: bytes) -> Heard:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            async with asyncio.timeout(PATIENCE):
                first, *rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
                headers = dict(line.lower().split(": ", 1) for line in rest if line)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
            shown = {name: line.split(": ", 1)[1] for name, line in zip(headers, rest, strict=False)}
            return Heard(int(first.split()[1]), shown, body)
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
async def protected(issuer: Issuer, **options: Any) -> AsyncIterator[Door]:
    """A server for those who show a token of the issuer."""
    given = {"issuer": issuer.url, "audience": RESOURCE, "jwks": issuer.jwks, "scopes": ["use"], **options}
    greeted: list[Any] = []
    async with on_assay(make_server(greeted, auth=Auth(**given)).asgi()) as port:
        yield Door(port, greeted)


def bearer(token: str) -> list[tuple[str, str]]:
    return [("Authorization", f"Bearer {token}")]


def dpop(token: str, *proofs: str) -> list[tuple[str, str]]:
    return [("Authorization", f"DPoP {token}"), *(("DPoP", proof) for proof in proofs)]

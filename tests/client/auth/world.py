"""A protected server and a real authorization server on free ports, and what a client sends to them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from assay import Context, Server
from assay.auth import Auth
from assay.authority.app import AuthorityApp
from assay.authority.authority import Authority
from assay.authority.settings import Settings
from tests.driving.hosts import on_assay


class Received(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    form: dict[str, str]
    body: bytes


class Recorder:
    """An ASGI application in front of another, which may be set late."""

    def __init__(self) -> None:
        self.app: Any = None
        self.received: list[Received] = []
        self.refused: set[str] = set()
        """Values of the Authorization header that get 401."""
        self.answers: dict[str, bytes] = {}
        """Bodies for paths that the application does not answer itself; empty for status 503."""
        self.hold: asyncio.Event | None = None
        """Requests for tokens wait for it."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        if self.hold is not None and scope["path"] == "/token":
            await self.hold.wait()
        body = b""

        async def recording() -> Any:
            nonlocal body
            event = await receive()
            body += event.get("body", b"")
            return event

        try:
            if headers.get("authorization") in self.refused:
                await _respond(send, 401, b"", ("www-authenticate", 'Bearer error="invalid_token"'))
            elif scope["path"] in self.answers:
                answer = self.answers[scope["path"]]
                await _respond(send, 200 if answer else 503, answer, ("content-type", "application/json"))
            else:
                await self.app(scope, recording, send)
        finally:
            query = scope["query_string"].decode()
            is_form = b"=" in body and not body.startswith(b"{")
            form = dict(parse_qsl(body.decode() if is_form else query))
            method = scope.get("method", "GET")
            self.received.append(Received(method, scope["path"], headers, form, body))

    async def close(self) -> None:
        return


async def _respond(send: Any, status: int, body: bytes, *headers: tuple[str, str]) -> None:
    pairs = [(name.encode(), value.encode()) for name, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


@dataclass
class World:
    url: str
    issuer: str
    server: Recorder
    authority: Recorder
    office: Authority
    """The authorization server."""
    principals: list[Any] = field(default_factory=list)

    def at(self, path: str) -> list[Received]:
        """The requests at a path of the authorization server."""
        return [request for request in self.authority.received if request.path == path]

    def scopes(self) -> list[list[str]]:
        """The scopes of authorization requests, without the one for refresh tokens."""
        requests = [request.form.get("scope", "").split() for request in self.at("/authorize")]
        return [[scope for scope in scopes if scope != "offline_access"] for scopes in requests]

    def grants(self) -> list[str]:
        """The kinds of token requests, in order."""
        return [request.form["grant_type"] for request in self.at("/token")]

    @property
    def last_token(self) -> str:
        """The Authorization header of the last request at the server."""
        return self.server.received[-1].headers["authorization"]

    @property
    def socket_url(self) -> str:
        return self.url.replace("http://", "ws://") + "/ws"


def make_server(world: World, auth: Auth) -> Server:
    server = Server("protected", auth=auth)

    @server.tool
    async def greet(ctx: Context) -> str:
        world.principals.append(ctx.scope.principal)
        return f"hello {ctx.scope.principal}"

    @server.tool(scopes=["write"])
    async def save() -> str:
        return "saved"

    return server


@contextlib.asynccontextmanager
async def protected(auth: dict[str, Any] | None = None, **settings: Any) -> AsyncIterator[World]:
    """`auth` are options of the protected server, the others settings of the authorization server."""
    resource, authority = Recorder(), Recorder()
    async with on_assay(resource) as port, on_assay(authority) as other:
        url, issuer = f"http://127.0.0.1:{port}/mcp", f"http://127.0.0.1:{other}"
        office = Authority(Settings(**{"issuer": issuer, "auto_approve": True, **settings}))
        world = World(url, issuer, resource, authority, office)
        options = {
            "issuer": issuer,
            "audience": url,
            "jwks": office.jwks(),
            "scopes": ["read"],
            **(auth or {}),
        }
        resource.app = make_server(world, Auth(**options)).asgi()
        authority.app = AuthorityApp(office)
        yield world

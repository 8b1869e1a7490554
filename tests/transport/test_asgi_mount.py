"""The application inside another one: mounted under a prefix, or as a single route."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from assay.revisions.registry import HANDSHAKE
from tests.driving.asgi import AsgiPeer
from tests.driving.messages import request
from tests.transport.subject import Subject


def starlette_mount(app: Any) -> Starlette:
    return Starlette(routes=[Mount("/api", app=app)])


def fastapi_mount(app: Any) -> FastAPI:
    host = FastAPI()
    host.mount("/api", app)
    return host


async def converse(host: Any, path: str) -> None:
    async with await AsgiPeer(host, path=path).shake_hands(HANDSHAKE[-1]) as client:
        answer = await client.call("say", level="info", text="hello")
        assert [message.get("id") for message in await answer.messages()] == [None, "call"]
        listening = await client.begin("GET").started()
        assert listening.is_stream
        assert (await client.send("DELETE")).status == 204
        assert await listening.messages() == []


@pytest.mark.parametrize("mount", [starlette_mount, fastapi_mount])
@pytest.mark.parametrize(
    ("own_path", "path"),
    [("/mcp", "/api/mcp"), ("/mcp", "/api/mcp/"), ("/mcp", "/api/"), ("/", "/api/"), (None, "/api/x")],
)
async def test_mounted_application_is_reached_under_the_prefix(mount: Any, own_path: str, path: str) -> None:
    await converse(mount(Subject().server.asgi(path=own_path)), path)


@pytest.mark.parametrize("mount", [starlette_mount, fastapi_mount])
@pytest.mark.parametrize("path", ["/mcp", "/api/other", "/api/mcp/x"])
async def test_nothing_else_is_reached(mount: Any, path: str) -> None:
    async with AsgiPeer(mount(Subject().server.asgi()), path=path) as client:
        assert (await client.post(request("ping"))).status == 404


@pytest.mark.parametrize("own_path", [None, "/tools/mcp"])
async def test_single_route(own_path: str | None) -> None:
    app = Subject().server.asgi(path=own_path)
    await converse(Starlette(routes=[Route("/tools/mcp", endpoint=app)]), "/tools/mcp")


async def test_two_servers_live_side_by_side() -> None:
    first, second = Subject(), Subject()
    second.server.tools.remove("add")
    host = Starlette(
        routes=[Mount("/first", app=first.server.asgi()), Mount("/second", app=second.server.asgi())]
    )
    async with (
        await AsgiPeer(host, path="/first/mcp").shake_hands(HANDSHAKE[-1]) as first,
        await AsgiPeer(host, path="/second/mcp").shake_hands(HANDSHAKE[-1]) as two,
    ):
        assert "result" in (await first.call("add", a=1, b=1)).json
        assert "error" in (await two.call("add", a=1, b=1)).json
        two.session = first.session
        assert (await two.post(request("ping"))).status == 404

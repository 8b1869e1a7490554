"""A scope of the author's own class: `Server[MyScope]`."""

from __future__ import annotations

from typing import Any

import pytest

from assay import Context, Scope, Server
from assay.revisions.registry import HANDSHAKE
from tests.driving.asgi import AsgiPeer
from tests.driving.client import TRANSPORTS, connect
from tests.driving.describing import describe
from tests.driving.messages import call
from tests.driving.websocket import AsgiSocket
from tests.server.scripted import NEWEST

MESSAGE = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "tenant"}}


class TenantScope(Scope, kw_only=True):
    tenant: str


class RegionScope(Scope):
    region: str = "unknown"


def make_server() -> Server[TenantScope]:
    server = Server[TenantScope]("test")

    @server.tool
    async def tenant(ctx: Context[Any, TenantScope]) -> str:
        return f"{ctx.scope.tenant} {ctx.principal} {ctx.scope.transport}"

    return server


def region_server() -> Server[RegionScope]:
    server = Server[RegionScope]("test")

    @server.tool
    async def region(ctx: Context[Any, RegionScope]) -> str:
        return ctx.scope.region

    return server


async def test_handler_gets_the_scope_that_the_host_passes() -> None:
    answer = await make_server().handle(MESSAGE, scope=TenantScope(tenant="acme", principal="ada"))
    assert b"acme ada direct" in (answer or b"")


@pytest.mark.parametrize(
    ("scope", "message"),
    [
        (None, r"pass scope=TenantScope\(\.\.\.\) with each message: Missing required argument 'tenant'"),
        (
            {"tenant": "acme"},
            r"scope must be a TenantScope, not \{'tenant': 'acme'\}: write scope=TenantScope\(",
        ),
        (Scope(), "scope must be a TenantScope, not a Scope"),
        (RegionScope(), "scope must be a TenantScope, not a RegionScope"),
    ],
)
async def test_wrong_object_is_refused(scope: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        await make_server().handle(MESSAGE, scope=scope)


async def test_server_without_a_class_refuses_wrong_objects_too() -> None:
    server = Server("plain")
    with pytest.raises(TypeError, match=r"scope must be a Scope, not 'ada': write scope=Scope\(principal="):
        await server.handle(MESSAGE, scope="ada")  # type: ignore[arg-type]
    assert await server.handle(MESSAGE, scope=TenantScope(tenant="acme")) is not None


async def test_class_of_a_scope_is_checked() -> None:
    with pytest.raises(TypeError, match=r"Server\[str\]: str must be a subclass of assay.Scope"):
        Server[str]  # type: ignore[type-var]


async def test_class_with_defaults_is_created_without_a_scope() -> None:
    message = {**MESSAGE, "params": {"name": "region"}}
    assert b"unknown" in (await region_server().handle(message) or b"")


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_transports_create_the_class_if_it_has_defaults(transport: str) -> None:
    async with connect(region_server(), transport, HANDSHAKE[-1]) as client:
        assert (await client.call("region"))["content"][0]["text"] == "unknown"


async def test_class_reaches_handlers_over_http() -> None:
    app = make_server().asgi()
    async with AsgiPeer(app, assay=TenantScope(tenant="acme", principal="ada")) as peer:
        answer = await peer.post(call("tenant"))
        assert answer.json["result"]["content"][0]["text"] == "acme ada http"
        await peer.shake_hands(HANDSHAKE[-1])
        answer = await peer.post(call("tenant"))
        assert answer.json["result"]["content"][0]["text"] == "acme ada http"


async def test_class_reaches_handlers_over_a_websocket() -> None:
    async with AsgiSocket(make_server().asgi(), assay=TenantScope(tenant="acme")) as client:
        answer = await client.ask(describe("tools/call", {"name": "tenant"}))
        assert answer["result"]["content"][0]["text"] == "acme None websocket"


async def test_missing_scope_is_logged_and_answered(caplog: pytest.LogCaptureFixture) -> None:
    async with AsgiPeer(make_server().asgi()) as peer:
        answer = await peer.post(call("tenant"))
    assert answer.json["error"] == {"code": -32603, "message": "internal error"}
    assert "a message over http has no TenantScope (Missing required argument 'tenant')" in caplog.text
    assert 'put one under "assay" into the ASGI scope, or give its fields defaults' in caplog.text


def test_server_of_a_class_is_a_server() -> None:
    server = make_server()
    assert isinstance(server, Server) and type(server) is Server[TenantScope]
    assert type(server).__name__ == "Server[TenantScope]"
    assert NEWEST in server.revisions

"""A WebSocket is closed when the token that opened it expires."""

from __future__ import annotations

import time
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from assay.auth import Auth
from tests.auth.endpoint import make_server
from tests.auth.issuer import RESOURCE, Issuer
from tests.driving.hosts import HOSTS, on_assay
from tests.driving.messages import call, initialize
from tests.driving.websocket import AsgiSocket


def guarded(issuer: Issuer, greeted: list[Any], **options: Any) -> Any:
    issuer.url = "https://as.example"
    auth = Auth(issuer=issuer.url, audience=RESOURCE, jwks={"keys": issuer.keys}, **options)
    return make_server(greeted, auth=auth).asgi()


@pytest.mark.parametrize("host", HOSTS)
async def test_it_is_closed_with_a_reason_when_the_token_expires(host: str) -> None:
    issuer, greeted = Issuer(), list[Any]()
    async with HOSTS[host](guarded(issuer, greeted, leeway=0)) as port:
        headers = {"authorization": f"Bearer {issuer.mint(exp=time.time() + 0.5)}"}
        async with connect(f"ws://localhost:{port}/mcp/ws", additional_headers=headers) as socket:
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (
            1008,
            "token expired: connect with a new one",
        )


async def test_it_is_served_as_its_principal_until_then() -> None:
    issuer, greeted = Issuer(), list[Any]()
    app = guarded(issuer, greeted)
    headers = {"authorization": f"Bearer {issuer.mint()}"}
    async with AsgiSocket(app, headers=headers) as socket:
        await socket.ask(initialize("2025-06-18"))
        await socket.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (await socket.ask(call("greet")))["result"]
    assert greeted == ["https://as.example#sub=ann"]


async def test_a_client_that_leaves_first_leaves_nothing_behind() -> None:
    issuer, greeted = Issuer(), list[Any]()
    async with on_assay(guarded(issuer, greeted)) as port:
        headers = {"authorization": f"Bearer {issuer.mint()}"}
        async with connect(f"ws://localhost:{port}/mcp/ws", additional_headers=headers) as socket:
            await socket.close()
        assert socket.close_code == 1000

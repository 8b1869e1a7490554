"""Access by Host and Origin, and CORS headers for browsers."""

from __future__ import annotations

from typing import Any

import pytest

from assay.revisions.registry import HANDSHAKE
from tests.driving.asgi import AsgiPeer
from tests.driving.messages import initialize, request
from tests.transport.subject import Subject

PING = request("ping")


def peer(**options: Any) -> AsgiPeer:
    return AsgiPeer(Subject().server.asgi(**options))


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:3000", "LOCALHOST:1", "127.0.0.1:80", "[::1]:3000", "[::1]"]
)
async def test_loopback_names_are_hosts_by_default(host: str) -> None:
    async with peer() as client:
        assert (await client.post(PING, headers={"host": host})).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", None]
)
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "OPTIONS"])
async def test_other_hosts_are_refused_with_the_name_of_the_setting(host: str | None, method: str) -> None:
    """Against DNS rebinding, where the browser uses another name for the server."""
    async with peer() as client:
        answer = await client.begin(method, PING, headers={"host": host}).complete()
        assert answer.status == 421
        assert "allowed_hosts" in answer.json["error"]["message"]


@pytest.mark.parametrize(
    ("allowed", "host", "status"),
    [
        (["api.example"], "api.example", 200),
        (["API.example"], "api.EXAMPLE:8443", 200),
        (["api.example:8443"], "api.example:8443", 200),
        (["api.example:8443"], "api.example:9", 421),
        (["api.example"], "localhost", 421),
        (["*"], "anything.example", 200),
    ],
)
async def test_allowed_hosts_are_a_setting(allowed: list[str], host: str, status: int) -> None:
    async with peer(allowed_hosts=allowed) as client:
        assert (await client.post(PING, headers={"host": host})).status == status


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost.evil.example", "file://", "http://", ""]
)
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "OPTIONS"])
async def test_other_origin_is_refused_with_the_name_of_the_setting(origin: str, method: str) -> None:
    """HTTP-02, HTTP-03: validated on all connections, refused with 403."""
    async with peer() as client:
        answer = await client.begin(method, PING, headers={"origin": origin}).complete()
        assert answer.status == 403
        assert "allowed_origins" in answer.json["error"]["message"]
        assert "access-control-allow-origin" not in answer.headers


async def test_any_host_does_not_mean_any_origin() -> None:
    async with peer(allowed_hosts=["*"]) as client:
        assert (await client.post(PING, headers={"origin": "http://evil.example"})).status == 403


@pytest.mark.parametrize(
    ("options", "origin"),
    [
        ({}, "http://localhost:5173"),
        ({}, "http://127.0.0.1"),
        ({"allowed_origins": ["https://app.example"]}, "https://app.example"),
        ({"allowed_origins": ["*"]}, "https://anything.example"),
        ({"allowed_origins": ["null"]}, "null"),
        ({"allowed_hosts": ["localhost", "api.example"]}, "https://api.example"),
    ],
)
async def test_allowed_origin_gets_cors_headers(options: dict[str, Any], origin: str) -> None:
    async with peer(**options) as client:
        answer = await client.post(initialize(HANDSHAKE[-1]), headers={"origin": origin})
        assert answer.status == 200
        assert answer.headers["access-control-allow-origin"] == origin
        assert "mcp-session-id" in answer.headers["access-control-expose-headers"]
        assert "origin" in answer.headers["vary"].lower()


async def test_refusals_of_the_protocol_reach_an_allowed_origin() -> None:
    """Without the header a browser would hide the reason from the page."""
    async with peer() as client:
        client.session = "gone"
        for answer in (
            await client.post(PING, headers={"origin": "http://localhost"}),
            await client.send("GET", headers={"origin": "http://localhost"}),
            await client.post(b"{", headers={"origin": "http://localhost"}),
        ):
            assert answer.status in (400, 404)
            assert answer.headers["access-control-allow-origin"] == "http://localhost"


async def test_preflight_lists_methods_and_headers() -> None:
    async with peer(allowed_origins=["https://app.example"]) as client:
        preflight = {"origin": "https://app.example", "access-control-request-method": "POST"}
        answer = await client.send("OPTIONS", headers=preflight)
        assert (answer.status, answer.body) == (204, b"")
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        assert {"GET", "POST", "DELETE"} <= {*answer.headers["access-control-allow-methods"].split(", ")}
        allowed = {*answer.headers["access-control-allow-headers"].split(", ")}
        needed = {
            "content-type",
            "accept",
            "mcp-session-id",
            "mcp-protocol-version",
            "last-event-id",
            "authorization",
        }
        assert needed <= allowed


async def test_request_without_origin_gets_no_cors_headers() -> None:
    async with peer() as client:
        answer = await client.post(PING)
        assert [name for name in answer.headers if name.startswith("access-control")] == []

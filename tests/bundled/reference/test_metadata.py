"""`metadata/get` says once more what `initialize` said, and which revisions and transports there are."""

from __future__ import annotations

import pytest

from assay.auth import Auth
from assay.bundled.reference import make_server
from assay.revisions.registry import DATES, HANDSHAKE
from assay.revisions.revision import Revision
from tests.bundled.reference.driving import ask_described, client_of
from tests.driving.client import TRANSPORTS


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_metadata_agrees_with_the_handshake(transport: str, revision: Revision) -> None:
    async with client_of(make_server(), revision, transport, handshake=False) as client:
        opened = await client.shake_hands()
        told = await client.result("metadata/get")
    assert (told["name"], told["version"]) == ("RefMCP-TestServer", "1.0.0")
    assert told["capabilities"] == opened["capabilities"]
    assert told["authRequired"] is False
    assert told["revisions"] == list(DATES)
    assert {"stdio", "http", "http-plain"} <= set(told["transports"])


async def test_metadata_agrees_with_discover() -> None:
    server = make_server()
    found = (await ask_described(server, "server/discover"))["result"]
    told = (await ask_described(server, "metadata/get"))["result"]
    assert told["capabilities"] == found["capabilities"]
    assert (told["resultType"], set(told["revisions"])) == ("complete", set(found["supportedVersions"]))


async def test_metadata_says_whether_tokens_are_asked_for() -> None:
    server = make_server()
    server.auth = Auth(issuer="https://auth.example.com", audience="https://mcp.example.com/mcp")
    told = (await ask_described(server, "metadata/get"))["result"]
    assert told["authRequired"] is True

"""`metadata/get` repeats `initialize`, and lists revisions and transports."""

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
        metadata = await client.result("metadata/get")
    assert (metadata["name"], metadata["version"]) == ("RefMCP-TestServer", "1.0.0")
    assert metadata["capabilities"] == opened["capabilities"]
    assert metadata["authRequired"] is False
    assert metadata["revisions"] == list(DATES)
    assert {"stdio", "http", "http-plain"} <= set(metadata["transports"])


async def test_metadata_agrees_with_discover() -> None:
    server = make_server()
    discovered = (await ask_described(server, "server/discover"))["result"]
    metadata = (await ask_described(server, "metadata/get"))["result"]
    assert metadata["capabilities"] == discovered["capabilities"]
    assert (metadata["resultType"], set(metadata["revisions"])) == (
        "complete",
        set(discovered["supportedVersions"]),
    )


async def test_metadata_says_whether_tokens_are_required() -> None:
    server = make_server()
    server.auth = Auth(issuer="https://auth.example.com", audience="https://mcp.example.com/mcp")
    metadata = (await ask_described(server, "metadata/get"))["result"]
    assert metadata["authRequired"] is True

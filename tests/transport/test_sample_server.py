"""The sample server in separate processes: stdio, plain HTTP, streamable HTTP, FastAPI.

On HTTP one process serves all revisions; on stdio there is one for each.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision, Structured
from tests.driving.client import Client
from tests.driving.links import HttpLink, ProcessLink
from tests.driving.messages import call, request
from tests.driving.process import http_process, stdio_process
from tests.driving.sockets import SocketPeer

WEATHER = str(Path(__file__).with_name("weather.py"))


@asynccontextmanager
async def over_stdio(revision: Revision) -> AsyncIterator[Client]:
    client = Client(revision)
    async with stdio_process(WEATHER) as process:
        client.link = ProcessLink(process, client.take)
        await client.shake_hands()
        yield client
        await client.link.close()
    client.judge()


@asynccontextmanager
async def over_http(url: str, revision: Revision) -> AsyncIterator[Client]:
    client = Client(revision)
    client.link = HttpLink(SocketPeer(url), client.take)
    try:
        await client.shake_hands()
        yield client
    finally:
        await client.link.close()
    client.judge()


async def converse(client: Client, *, hears_progress: bool = True) -> None:
    """Use all features of the sample."""
    tools = {tool["name"]: tool for tool in (await client.result("tools/list"))["tools"]}
    assert tools["add"]["description"] == "Add two numbers."
    assert tools["add"]["inputSchema"]["required"] == ["a", "b"]
    assert tools["forecast"]["inputSchema"]["required"] == ["city"]
    assert tools["forecast"]["annotations"] == {"readOnlyHint": True}
    assert (await client.call("add", a=2, b=3))["content"][0]["text"] == '{"result":5}'
    params = {"name": "forecast", "arguments": {"city": "Oslo"}, "_meta": {"progressToken": "p"}}
    result = await client.result("tools/call", params)
    expected = {"city": "Oslo", "days": 3, "outlook": "sunny"}
    assert json.loads(result["content"][0]["text"]) == expected
    structured = expected if client.revision.structured is not Structured.ABSENT else None
    assert result.get("structuredContent") == structured
    progress = [message["params"]["message"] for message in client.of("notifications/progress")]
    assert progress == (["fetching"] if hears_progress else [])
    contents = (await client.result("resources/read", {"uri": "notes://todo"}))["contents"]
    assert contents == [{"uri": "notes://todo", "mimeType": "text/markdown", "text": "# todo"}]
    got = await client.result("prompts/get", {"name": "review", "arguments": {"code": "x = 1"}})
    assert got["messages"][0]["content"]["text"] == "Please review this python code:\nx = 1"


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_stdio(revision: Revision) -> None:
    async with over_stdio(revision) as client:
        await converse(client)


async def test_streamable_http() -> None:
    async with http_process(WEATHER, "http") as url:
        assert url.endswith("/mcp")
        for revision in HANDSHAKE:
            async with over_http(url, revision) as client:
                await client.link.listen()
                await converse(client)


async def test_plain_http() -> None:
    async with http_process(WEATHER, "http-plain") as url:
        for revision in HANDSHAKE:
            async with over_http(url, revision) as client:
                await converse(client, hears_progress=False)


async def test_inside_fastapi() -> None:
    async with http_process(WEATHER, "fastapi") as url:
        for revision in HANDSHAKE:
            async with over_http(url, revision) as client:
                await converse(client)
        async with httpx2.AsyncClient(trust_env=False) as browser:
            health = await browser.get(url.replace("/tools/mcp", "/health"))
            assert health.json() == {"ok": True}


async def test_server_stops_although_a_client_listens() -> None:
    """An open event stream is closed properly with the server, and does not delay it."""
    async with http_process(WEATHER, "http") as url:
        peer = SocketPeer(url)
        client = Client(HANDSHAKE[-1])
        client.link = HttpLink(peer, client.take)
        await client.shake_hands()
        listening = await peer.begin("GET").started()
        await listening.event()
    async with peer:
        assert await listening.messages() == []


async def test_raw_bytes_on_a_socket() -> None:
    """A chunked body and two requests on one connection, without an HTTP library."""
    async with http_process(WEATHER, "http") as url:
        host, _, port = url.removeprefix("http://").removesuffix("/mcp").partition(":")
        reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        ).encode()
        for message in (request("ping", request_id=1), call("add", 2, a=1, b=2)):
            body = json.dumps(message).encode()
            halves = (body[:10], body[10:])
            writer.write(
                head + b"".join(b"%x\r\n%b\r\n" % (len(half), half) for half in halves) + b"0\r\n\r\n"
            )
            async with asyncio.timeout(5):
                received = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                assert received.startswith("http/1.1 200")
                length = int(received.split("content-length: ")[1].split("\r\n")[0])
                assert json.loads(await reader.readexactly(length))["id"] == message["id"]
        writer.close()
        await writer.wait_closed()

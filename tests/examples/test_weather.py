"""The sample server over every transport, and inside a FastAPI application."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import fastapi
import httpx2
import pytest

from assay.revisions.registry import HANDSHAKE
from examples.weather import server
from tests.examples import process

pytestmark = pytest.mark.waits

REVISIONS = [revision.date for revision in HANDSHAKE]
Ask = Callable[[dict[str, Any]], Awaitable[Any]]


async def use_the_sample(ask: Ask) -> None:
    """What every transport must give."""
    tools = (await ask(process.request("tools/list")))["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["add", "forecast"]
    assert tools[1]["inputSchema"]["properties"]["days"]["default"] == 3
    assert (await ask(process.tool_call("add", a=2, b=3)))["result"]["content"][0]["text"] == '{"result":5}'
    read = await ask(process.request("resources/read", {"uri": "notes://clouds"}))
    assert read["result"]["contents"][0]["mimeType"] == "text/markdown"
    missing = await ask(process.request("resources/read", {"uri": "notes://no-such"}))
    assert missing["error"]["code"] == -32002
    prompt = await ask(process.request("prompts/get", {"name": "review", "arguments": {"code": "x = 1"}}))
    assert prompt["result"]["messages"][0]["content"]["text"].startswith("Please review this python code")


async def use_over_http(http: httpx2.AsyncClient, url: str, revision: str) -> None:
    async def ask(message: dict[str, Any]) -> Any:
        answer = await http.post(url, json=message, headers={"MCP-Protocol-Version": revision})
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        return answer.json()

    opened = await http.post(url, json=process.initialize(revision))
    assert opened.json()["result"]["protocolVersion"] == revision
    if "mcp-session-id" in opened.headers:
        http.headers["mcp-session-id"] = opened.headers["mcp-session-id"]
    assert (await http.post(url, json=process.INITIALIZED)).status_code == 202
    await use_the_sample(ask)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_on_stdio(revision: str) -> None:
    async with (
        asyncio.timeout(process.GUARD),
        process.started("examples/weather.py", stdin=asyncio.subprocess.PIPE) as sample,
    ):

        async def ask(message: dict[str, Any]) -> Any:
            assert sample.stdin is not None and sample.stdout is not None
            sample.stdin.write(json.dumps(message).encode() + b"\n")
            return json.loads(await sample.stdout.readline())

        opened = await ask(process.initialize(revision))
        assert opened["result"]["protocolVersion"] == revision
        assert sample.stdin is not None
        sample.stdin.write(json.dumps(process.INITIALIZED).encode() + b"\n")
        await use_the_sample(ask)
        sample.stdin.close()
        assert await sample.wait() == 0


@pytest.mark.parametrize("transport", ["http", "http-plain"])
async def test_on_http(transport: str) -> None:
    async with process.assay_serve("examples/weather.py", transport) as url:
        for revision in REVISIONS:
            async with process.client() as http:
                await use_over_http(http, url, revision)
                assert ("mcp-session-id" in http.headers) == (transport == "http")


async def test_an_answer_with_progress_is_a_stream() -> None:
    async with process.assay_serve("examples/weather.py:server", "http") as url, process.client() as http:
        call = process.tool_call("forecast", city="Rome", days=2)
        call["params"]["_meta"] = {"progressToken": 7}
        answer = await http.post(url, json=call, headers={"MCP-Protocol-Version": REVISIONS[-1]})
    assert answer.headers["content-type"] == "text/event-stream"
    messages = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
    assert [message["params"]["progress"] for message in messages[:-1]] == [1, 2]
    assert messages[-1]["result"]["structuredContent"] == {"city": "Rome", "degrees": [22, 18]}


@pytest.mark.parametrize(
    ("mounted_at", "url"),
    [("/", "http://localhost/mcp"), ("/weather", "http://localhost/weather/mcp")],
)
async def test_inside_a_fastapi_application(mounted_at: str, url: str) -> None:
    app = fastapi.FastAPI()
    app.mount(mounted_at, server.asgi())
    for revision in REVISIONS:
        async with process.client(transport=httpx2.ASGITransport(app=app)) as http:
            await use_over_http(http, url, revision)

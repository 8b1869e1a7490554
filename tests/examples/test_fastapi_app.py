"""FastAPI's user becomes the principal, for POST, for the GET stream and for DELETE."""

from collections.abc import AsyncIterator

import httpx2
import pytest
import pytest_asyncio

from assay.revisions.registry import HANDSHAKE
from tests.examples import process

REVISION = HANDSHAKE[-1].date
ADA = {"Authorization": "Bearer token-of-ada"}
BOB = {"Authorization": "Bearer token-of-bob"}


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url() -> AsyncIterator[str]:
    async with process.uvicorn("examples.fastapi_app:app", "--timeout-graceful-shutdown", "5") as base:
        yield f"{base}/mcp"


async def open_session(http: httpx2.AsyncClient, url: str) -> None:
    """Shake hands; from then on the client sends its session along."""
    answer = await http.post(url, json=process.initialize(REVISION))
    assert answer.status_code == 200
    http.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
    assert (await http.post(url, json=process.INITIALIZED)).status_code == 202


async def test_handlers_see_the_user_that_the_dependency_found(url: str) -> None:
    async with process.client(headers=ADA) as ada, process.client(headers=BOB) as bob:
        for http, name in ((ada, "Ada Lovelace"), (bob, "Bob Kahn")):
            await open_session(http, url)
            answer = await http.post(url, json=process.tool_call("remember", note=f"of {name}"))
            assert answer.json()["result"]["content"][0]["text"] == f"{name} has 1 notes"
        read = await bob.post(url, json=process.request("resources/read", {"uri": "notes://mine"}))
        assert read.json()["result"]["contents"][0]["text"] == '[\n  "of Bob Kahn"\n]'


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer of-nobody"}])
async def test_who_is_not_a_user_gets_nowhere(url: str, headers: dict[str, str]) -> None:
    async with process.client(headers=headers) as http:
        for answer in (
            await http.post(url, json=process.initialize(REVISION)),
            await http.get(url),
            await http.delete(url),
        ):
            assert answer.status_code == 401
            assert "www-authenticate" in answer.headers


async def test_the_get_stream_follows_the_session_until_delete(url: str) -> None:
    async with process.client(headers=ADA) as http:
        await open_session(http, url)
        async with http.stream("GET", url, headers={"Accept": "text/event-stream"}) as stream:
            assert stream.status_code == 200
            assert stream.headers["content-type"] == "text/event-stream"
            chunks = stream.aiter_bytes()
            assert await anext(chunks)
            assert (await http.delete(url)).status_code == 204
            assert [chunk async for chunk in chunks] == []
        assert (await http.post(url, json=process.request("ping"))).status_code == 404


async def test_nobody_uses_the_session_of_another(url: str) -> None:
    async with process.client(headers=ADA) as ada, process.client(headers=BOB) as bob:
        await open_session(ada, url)
        bob.headers["mcp-session-id"] = ada.headers["mcp-session-id"]
        assert (await bob.post(url, json=process.request("ping"))).status_code == 404
        assert (await bob.get(url, headers={"Accept": "text/event-stream"})).status_code == 404
        assert (await bob.delete(url)).status_code == 404
        assert (await ada.post(url, json=process.request("ping"))).json()["result"] == {}


async def test_the_other_routes_of_the_application_stay(url: str) -> None:
    async with process.client() as http:
        answer = await http.get(url.replace("/mcp", "/health"))
        assert answer.json() == {"status": "ok"}

"""Results that a server allows to reuse: while they are fresh, and for the same client only."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from msgspec import Raw

from assay import Cache, Change, Client, ClientLimits, Context, Server, SyncClient
from assay.client.result_cache import READ, ResultCache
from assay.revisions.registry import DATES, PER_REQUEST
from tests.client.scripted import HttpRequest, Writer, answering, http_response, raw_http, result
from tests.driving.answer import PATIENCE

NEWEST, BEFORE = DATES[-1], DATES[-2]
TOOLS = ("tools/list", "")


class ManualClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def message(**fields: Any) -> Raw:
    return Raw(json.dumps(fields).encode())


def opened(clock: ManualClock | None = None, **limits: Any) -> ResultCache:
    cache = ResultCache(ClientLimits(**limits), clock or ManualClock())
    cache.begin(PER_REQUEST[-1].cacheable)
    return cache


def test_a_result_is_fresh_for_the_time_of_its_hint() -> None:
    clock = ManualClock()
    cache = opened(clock)
    cache.put(TOOLS, [message(ttlMs=1000)], cache.generation)
    clock.now = 0.999
    assert cache.get(TOOLS) is not None
    clock.now = 1.0
    assert cache.get(TOOLS) is None


@pytest.mark.parametrize("ttl", [0, -1, None, "60000", True, [], {}])
def test_other_hints_allow_no_reuse(ttl: Any) -> None:
    cache = opened()
    cache.put(TOOLS, [message(ttlMs=ttl)], cache.generation)
    assert cache.get(TOOLS) is None


def test_a_list_is_as_fresh_as_its_first_stale_page() -> None:
    clock = ManualClock()
    cache = opened(clock)
    cache.put(TOOLS, [message(ttlMs=1000), message(ttlMs=10)], cache.generation)
    clock.now = 0.02
    assert cache.get(TOOLS) is None


def test_a_ttl_of_years_is_a_day() -> None:
    clock = ManualClock()
    cache = opened(clock)
    cache.put(TOOLS, [message(ttlMs=10**300)], cache.generation)
    clock.now = 24 * 60 * 60 + 1
    assert cache.get(TOOLS) is None


def test_the_least_recently_used_make_room() -> None:
    cache = opened(cache_bytes=4000)
    for number in range(6):
        cache.put((READ, f"test://{number}"), [message(ttlMs=9, text="x" * 500)], cache.generation)
        cache.get((READ, "test://0"))
    stored = [number for number in range(6) if cache.get((READ, f"test://{number}")) is not None]
    assert stored == [0, 4, 5]
    cache.put(TOOLS, [message(ttlMs=9, text="x" * 5000)], cache.generation)
    assert cache.get(TOOLS) is None


@pytest.mark.parametrize(
    ("change", "dropped"),
    [
        (Change("tools"), {"tools/list"}),
        (Change("prompts"), {"prompts/list"}),
        (Change("resources"), {"resources/list", "resources/templates/list"}),
        (Change("resource", "test://a"), {"test://a", "test://a/part"}),
        (Change("resource", "test://a/part"), {"test://a", "test://a/part"}),
        (Change("resource", "test://ab"), {"test://ab"}),
    ],
)
def test_a_change_drops_what_it_makes_stale(change: Change, dropped: set[str]) -> None:
    cache = opened()
    keys = [(method, "") for method in PER_REQUEST[-1].cacheable - {READ, "server/discover"}]
    keys += [(READ, uri) for uri in ("test://a", "test://a/part", "test://ab")]
    for key in keys:
        cache.put(key, [message(ttlMs=9)], cache.generation)
    cache.observe(change)
    assert {key[1] or key[0] for key in keys if cache.get(key) is None} == dropped


def test_what_was_requested_before_a_change_is_not_stored_after_it() -> None:
    cache = opened()
    generation = cache.generation
    cache.observe(Change("tools"))
    cache.put(TOOLS, [message(ttlMs=9)], generation)
    assert cache.get(TOOLS) is None


def test_another_principal_gets_no_private_results() -> None:
    token = ["first"]
    cache = ResultCache(ClientLimits(), ManualClock(), lambda: token[0])
    cache.begin(PER_REQUEST[-1].cacheable)
    cache.put(TOOLS, [message(ttlMs=9, cacheScope="public")], cache.generation)
    cache.put((READ, "test://a"), [message(ttlMs=9, cacheScope="private")], cache.generation)
    cache.put((READ, "test://b"), [message(ttlMs=9)], cache.generation)
    generation = cache.generation
    token[0] = "second"
    assert cache.get(TOOLS) is not None
    assert cache.get((READ, "test://a")) is None
    assert cache.get((READ, "test://b")) is None
    cache.put((READ, "test://c"), [message(ttlMs=9)], generation)
    assert cache.get((READ, "test://c")) is None


# With servers.


def counting(ttl_ms: int = 60_000) -> tuple[Server, list[str]]:
    cache = Cache(ttl_ms, "private")
    server = Server("counting", cache=cache)
    reads: list[str] = []

    @server.resource("test://a", cache=cache)
    async def a() -> str:
        reads.append("a")
        return str(len(reads))

    @server.resource("test://asking", cache=cache)
    async def asking(ctx: Context) -> str:
        await ctx.elicit("Which?", {"type": "object", "properties": {}})
        reads.append("asking")
        return "answered"

    @server.tool
    async def first() -> None: ...

    return server, reads


async def texts(client: Client, uri: str, **options: Any) -> str | None:
    return (await client.read(uri, **options))[0].text


async def test_lists_and_resources_are_reused_while_fresh() -> None:
    server, _ = counting()
    async with Client(server) as client, Client(server) as other:
        tools = await client.tools()
        tools[0].name = "changed by the caller"
        server.tools.remove("first")
        assert [tool.name for tool in await client.tools()] == ["first"]
        assert await client.tools(fresh=True) == []
        assert await client.tools() == []
        assert [await texts(client, "test://a") for _ in range(3)] == ["1", "1", "1"]
        assert await texts(other, "test://a") == "2"  # nothing is shared between clients
        assert await texts(client, "test://a", fresh=True) == "3"
        assert await texts(client, "test://a") == "3"


@pytest.mark.parametrize(("revision", "ttl"), [(NEWEST, 0), (BEFORE, 60_000)])
async def test_without_hints_the_server_is_asked_each_time(revision: str, ttl: int) -> None:
    server, _ = counting(ttl)
    async with Client(server, revision=revision) as client:
        assert [await texts(client, "test://a") for _ in range(2)] == ["1", "2"]


async def test_a_result_that_needed_answers_is_not_reused() -> None:
    server, reads = counting()
    async with Client(server, elicitation=lambda _: {}) as client:
        for _ in range(2):
            await client.read("test://asking")
        assert reads == ["asking", "asking"]


async def test_an_announced_change_is_noticed() -> None:
    server, _ = counting()
    async with (
        Client(server) as client,
        client.listen("tools", uris=["test://a"]) as changes,
        asyncio.timeout(PATIENCE),
    ):
        assert (await client.tools(), await texts(client, "test://a"))[1] == "1"
        server.tools.remove("first")
        assert await anext(changes) == Change("tools")
        assert await client.tools() == []
        server.resource_updated("test://a")
        assert await anext(changes) == Change("resource", "test://a")
        assert await texts(client, "test://a") == "2"


async def test_pages_are_stored_as_one_list() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        cursor = request.message["params"].get("cursor", "a")
        page: dict[str, Any] = {"prompts": [{"name": cursor}], "ttlMs": 60_000, "cacheScope": "public"}
        if cursor != "c":
            page["nextCursor"] = chr(ord(cursor) + 1)
        writer.write(http_response("200 OK", result(request, page)))

    async with raw_http(answering(respond)) as server, Client(server.url) as client:
        for _ in range(2):
            assert [prompt.name for prompt in await client.prompts()] == ["a", "b", "c"]
        assert len(server.requests) == 4


async def test_the_sync_client_reuses_results() -> None:
    server, _ = counting()

    def use() -> list[str | None]:
        with SyncClient(server) as client:
            client.tools(fresh=True)
            return [client.read("test://a", fresh=fresh)[0].text for fresh in (False, False, True)]

    assert await asyncio.to_thread(use) == ["1", "1", "2"]

"""Several servers in one client: names with prefixes, and requests that find their server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from assay import (
    Cache,
    Change,
    Client,
    ClientError,
    ConnectionFailed,
    Context,
    InvalidAnswer,
    Progress,
    ResourceLink,
    Server,
    SyncClient,
    ToolFailed,
)
from assay.client.prefix import Prefixes
from assay.model.content import Text
from assay.revisions.registry import DATES
from tests.client.scripted import HttpRequest, Writer, answering, http_response, raw_http, result
from tests.driving.answer import PATIENCE
from tests.driving.hosts import on_assay


def make_server(name: str, **options: Any) -> Server:
    server = Server(name, instructions=f"I am {name}.", **options)

    @server.tool
    async def greet(ctx: Context, who: str = "you") -> str:
        await ctx.report_progress(1)
        return f"{name} greets {who}"

    @server.tool
    async def link() -> ResourceLink:
        return ResourceLink("data://today", "today")

    @server.tool
    async def fail() -> None:
        raise ValueError("broken")

    @server.resource("data://today")
    async def today() -> str:
        return f"today of {name}"

    @server.resource("data://days/{day}")
    async def day(day: str) -> str:
        return f"{day} of {name}"

    @server.prompt
    async def ask(topic: str) -> str:
        return f"{name}: {topic}"

    @server.completion("ask", "topic")
    async def topics(value: str) -> list[str]:
        return [f"{name} {value}"]

    return server


@contextlib.asynccontextmanager
async def configured(**servers: Server) -> AsyncIterator[dict[str, Any]]:
    async with contextlib.AsyncExitStack() as stack:
        entries = {}
        for name, server in servers.items():
            port = await stack.enter_async_context(on_assay(server.asgi()))
            entries[name] = {"url": f"http://127.0.0.1:{port}/mcp"}
        yield {"mcpServers": entries}


@contextlib.asynccontextmanager
async def connected(**options: Any) -> AsyncIterator[Client]:
    """A client of two servers of different revisions."""
    weather = make_server("weather")
    time = make_server("time", revisions=[DATES[-2]])
    async with configured(weather=weather, time=time) as target, Client(target, **options) as client:
        yield client


async def test_lists_are_those_of_all_servers_with_prefixes() -> None:
    async with connected() as client:
        tools = [tool.name for tool in await client.tools()]
        assert tools == [
            f"{server}_{tool}" for server in ("weather", "time") for tool in ("greet", "link", "fail")
        ]
        assert [prompt.name for prompt in await client.prompts()] == ["weather_ask", "time_ask"]
        assert [resource.uri for resource in await client.resources()] == [
            "data://weather/today",
            "data://time/today",
        ]
        assert [template.uri_template for template in await client.templates()] == [
            "data://weather/days/{day}",
            "data://time/days/{day}",
        ]


async def test_requests_reach_their_server() -> None:
    reports: list[Progress] = []
    async with connected() as client:
        result = await client.call_tool("weather_greet", {"who": "me"}, progress=reports.append)
        assert (result.text, len(reports)) == ("weather greets me", 1)
        assert (await client.call("time_greet")).text == "time greets you"
        [contents] = await client.read("data://time/days/monday")
        assert (contents.uri, contents.text) == ("data://time/days/monday", "monday of time")
        prompt = await client.prompt("time_ask", topic="noon")
        assert prompt.messages[0].content == Text("time: noon")
        completion = await client.complete("topic", "no", prompt="weather_ask")
        assert completion.values == ["weather no"]
        assert await client.ping() > 0
        with pytest.raises(ToolFailed, match="weather_fail"):
            await client.call("weather_fail")


async def test_links_in_results_can_be_read() -> None:
    async with connected() as client:
        link = (await client.call("time_link")).content[0]
        assert isinstance(link, ResourceLink)
        assert (await client.read(link.uri))[0].text == "today of time"


async def test_the_client_of_each_server_is_there_for_what_concerns_one() -> None:
    async with connected() as client:
        assert {name: member.revision for name, member in client.servers.items()} == {
            "weather": DATES[-1],
            "time": DATES[-2],
        }
        assert client.revision == DATES[-1]
        assert client.instructions == "weather: I am weather.\n\ntime: I am time."
        assert (await client.servers["time"].call("greet")).text == "time greets you"
        with pytest.raises(ClientError, match=r"client\.servers\[name\]\.request\('own/method'"):
            await client.request("own/method")


async def test_names_of_no_server_are_named() -> None:
    async with connected() as client:
        with pytest.raises(ClientError, match="no server for 'greet': names are weather_…, time_…"):
            await client.call("greet")
        with pytest.raises(ClientError, match="no server for 'data://today': URIs are scheme://weather/…"):
            await client.read("data://today")


async def test_changes_of_all_servers_arrive_with_prefixes() -> None:
    weather, time = make_server("weather"), make_server("time", revisions=[DATES[-2]])
    changed: asyncio.Queue[Change] = asyncio.Queue()
    async with (
        configured(weather=weather, time=time) as target,
        Client(target, on_change=changed.put_nowait) as client,
        client.subscribe("data://weather/today", "data://time/today") as changes,
        asyncio.timeout(PATIENCE),
    ):
        weather.resource_updated("data://today")
        assert await anext(changes) == Change("resource", "data://weather/today")
        while changed.empty():  # its stream opens beside the calls
            time.resource_updated("data://today")
            await client.ping()
        assert await anext(changes) == Change("resource", "data://time/today")
        assert await changed.get() == Change("resource", "data://time/today")
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_lists_are_cached_for_the_shortest_time() -> None:
    long, never = make_server("a", cache=Cache(60_000)), make_server("b", cache=Cache(0))
    for others, count in (({}, 3), ({"b": never}, 4)):
        extra = make_server("c", cache=Cache(60_000))
        async with configured(a=long, c=extra, **others) as target, Client(target) as client:
            before = len(await client.tools())
            extra.tools.remove("greet")
            assert len(await client.tools()) == before - (1 if others else 0), count
            assert len(await client.tools(fresh=True)) == before - 1


async def test_results_are_checked_against_the_schema_of_their_server() -> None:
    tool = {"name": "count", "inputSchema": {"type": "object"}, "outputSchema": {"required": ["count"]}}

    async def respond(request: HttpRequest, writer: Writer) -> None:
        is_list = request.message["method"] == "tools/list"
        answer = {"tools": [tool]} if is_list else {"content": [], "structuredContent": {}}
        writer.write(http_response("200 OK", result(request, answer)))

    async with raw_http(answering(respond)) as wrong, configured(b=make_server("b")) as target:
        target["mcpServers"]["a"] = {"url": wrong.url}
        async with Client(target) as client:
            await client.tools()
            with pytest.raises(InvalidAnswer, match="the result of tool a_count does not fit"):
                await client.call("a_count")


async def test_a_server_that_cannot_be_opened_is_named_and_the_others_are_closed() -> None:
    async with configured(weather=make_server("weather")) as target:
        target["mcpServers"]["broken"] = {"url": "http://127.0.0.1:1/mcp"}
        target["mcpServers"]["missing"] = {"command": "no-such-command-here"}
        before = asyncio.all_tasks()
        with pytest.raises(
            ConnectionFailed, match=r"(?s)server broken cannot be opened: .*\n  missing: "
        ) as caught:
            async with Client(target):
                pass
        assert isinstance(caught.value.__cause__, ConnectionFailed)
        assert asyncio.all_tasks() == before


async def test_a_failing_server_is_named_in_the_error() -> None:
    async with connected() as client:
        with pytest.raises(ClientError) as caught:
            await client.prompt("time_none")
        assert "the server is time" in caught.value.__notes__


@pytest.mark.parametrize("options", [{"headers": {"A": "b"}}, {"auth": "token"}])
def test_options_for_one_server_are_refused_for_several(options: dict[str, Any]) -> None:
    target = {"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}
    with pytest.raises(TypeError, match=r"one server|servers with a URL"):
        Client(target, **options)


def test_ambiguous_names_are_refused() -> None:
    with pytest.raises(ValueError, match="'a' and 'a_b' are ambiguous in names such as 'a_b_x': rename one"):
        Client({"mcpServers": {"a": {"command": "x"}, "a_b": {"command": "y"}}})


@pytest.mark.parametrize(
    ("uri", "prefixed"),
    [
        ("data://today", "data://my%20server/today"),
        ("file:///etc/hosts", "file://my%20server//etc/hosts"),
        ("urn:isbn:1", "urn:my%20server/isbn:1"),
        ("data://{name}/x", "data://my%20server/{name}/x"),
        ("x:", "x:my%20server/"),
        ("no scheme", None),
        ("{scheme}://x", None),
        ("", None),
    ],
)
def test_uris_with_a_server_lead_back(uri: str, prefixed: str | None) -> None:
    prefixes = Prefixes(["my server", "other"])
    assert prefixes.uri("my server", uri) == prefixed
    if prefixed is not None:
        assert prefixes.split_uri(prefixed) == ("my server", uri)


def test_a_uri_without_a_scheme_cannot_lead_to_another_server() -> None:
    """A server's result may have any text as a URI."""
    prefixes = Prefixes(["good", "evil"])
    link = prefixes.outward("evil", {"type": "resource_link", "uri": "good/secret"})["uri"]
    with pytest.raises(ValueError, match="no server for"):
        prefixes.split_uri(link)


@pytest.mark.parametrize("name", ["x", "", "_", "my server_x", "ünïcode"])
def test_names_with_a_server_lead_back(name: str) -> None:
    prefixes = Prefixes(["my server", "my"])
    for server in ("my server", "my"):
        assert prefixes.split_name(prefixes.name(server, name)) == (server, name)


async def test_the_sync_client_has_several_servers() -> None:
    def use(target: dict[str, Any]) -> list[str]:
        with SyncClient(target) as client:
            return [client.call(name).text for name in ("a_greet", "b_greet")]

    async with configured(a=make_server("a"), b=make_server("b")) as target:
        assert await asyncio.to_thread(use, target) == ["a greets you", "b greets you"]

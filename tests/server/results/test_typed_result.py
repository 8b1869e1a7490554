"""Typed results: `resultType`, the server's name, caching hints; and the `_meta` of requests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types.methods import CACHEABLE_METHODS

from assay import Cache, Context, PromptResult, Server, Text, ToolResult
from assay.model.result import Message
from assay.revisions.registry import DATES, HANDSHAKE
from tests.driving.describing import LOG_LEVEL, SERVER_INFO, DescribingClient, text_of
from tests.server.scripted import ask

INFO = {"name": "test", "version": "1.2", "title": "Test"}
META = {"_meta": {SERVER_INFO: INFO}}
STALE = {"ttlMs": 0, "cacheScope": "public"}


def make_server(**options: Any) -> Server:
    server = Server("test", "1.2", title="Test", **options)

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    async def marked() -> ToolResult:
        return ToolResult([Text("x")], meta={"com.example/own": 1})

    @server.tool
    async def empty() -> None:
        return None

    @server.prompt
    async def hello() -> PromptResult:
        return PromptResult([Message("user", Text("x"))], meta={"com.example/own": 2})

    @server.resource("notes://a")
    async def note() -> str:
        return "a"

    @server.resource("notes://long/{name}", cache=Cache(60_000, "public"))
    async def cached(name: str) -> str:
        return name

    return server


COMPLETION = {
    "ref": {"type": "ref/resource", "uri": "notes://long/{name}"},
    "argument": {"name": "name", "value": ""},
}
REQUESTS: dict[str, dict[str, Any]] = {
    "server/discover": {},
    "tools/list": {},
    "tools/call": {"name": "add", "arguments": {"a": 1, "b": 2}},
    "prompts/list": {},
    "prompts/get": {"name": "hello"},
    "resources/list": {},
    "resources/templates/list": {},
    "resources/read": {"uri": "notes://a"},
    "completion/complete": COMPLETION,
}


def complete_server() -> Server:
    server = make_server()

    @server.completion("notes://long/{name}", "name")
    async def names() -> list[str]:
        return []

    return server


@pytest.mark.parametrize("method", REQUESTS)
async def test_every_result_has_its_type_and_the_servers_name(method: str) -> None:
    """META-11; the official types check `resultType` and the hints as well."""
    result = await DescribingClient(complete_server()).result(method, REQUESTS[method])
    assert (result["resultType"], result["_meta"][SERVER_INFO]) == ("complete", INFO)
    assert ({"ttlMs", "cacheScope"} <= result.keys()) is (method in CACHEABLE_METHODS)
    assert ({"ttlMs", "cacheScope"} & result.keys() != set()) is (method in CACHEABLE_METHODS)


async def test_tool_result_keeps_its_own_fields() -> None:
    result = await DescribingClient(make_server()).call("add", a=1, b=2)
    assert result == {
        "resultType": "complete",
        **META,
        "content": [{"type": "text", "text": "3"}],
        "isError": False,
        "structuredContent": 3,
    }


async def test_empty_result_has_the_common_fields() -> None:
    assert await DescribingClient(make_server()).call("empty") == {
        "resultType": "complete",
        **META,
        "content": [],
        "isError": False,
    }


@pytest.mark.parametrize(
    ("method", "name", "own"), [("tools/call", "marked", 1), ("prompts/get", "hello", 2)]
)
async def test_own_meta_is_merged_with_ours(method: str, name: str, own: int) -> None:
    """And written once: a duplicate member would hide the first."""
    server = make_server()
    client = DescribingClient(server)
    result = await client.result(method, {"name": name})
    assert result["_meta"] == {SERVER_INFO: INFO, "com.example/own": own}
    assert result == await client.result(method, {"name": name})


async def test_discovery_matches_initialize() -> None:
    """VER-03, VER-04, VER-05."""
    server = complete_server()
    server.instructions = "Be brief."
    assert await DescribingClient(server).result("server/discover") == {
        "resultType": "complete",
        **META,
        **STALE,
        "supportedVersions": [*reversed(DATES)],
        "capabilities": {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "prompts": {"listChanged": True},
            "logging": {},
            "completions": {},
        },
        "instructions": "Be brief.",
    }


async def test_lists_have_the_hints_of_the_server() -> None:
    client = DescribingClient(make_server(cache=Cache(5000, "private")))
    for method in sorted(CACHEABLE_METHODS - {"resources/read"}):
        result = await client.result(method)
        assert (result["ttlMs"], result["cacheScope"]) == (5000, "private")


async def test_pages_of_a_list_share_their_hints() -> None:
    """CA-04."""
    client = DescribingClient(make_server(cache=Cache(5000, "private"), page_size=1))
    first = await client.result("tools/list")
    second = await client.result("tools/list", {"cursor": first["nextCursor"]})
    assert (second["ttlMs"], second["cacheScope"]) == (5000, "private")


@pytest.mark.parametrize(
    ("uri", "hints"), [("notes://a", (0, "private")), ("notes://long/b", (60_000, "public"))]
)
async def test_resources_have_their_own_hints(uri: str, hints: tuple[int, str]) -> None:
    """Contents may depend on the caller, so the server's hints do not apply."""
    client = DescribingClient(make_server(cache=Cache(5000, "public")))
    result = await client.result("resources/read", {"uri": uri})
    assert (result["ttlMs"], result["cacheScope"]) == hints


@pytest.mark.parametrize(
    ("arguments", "problem"), [((-1,), "must not be negative"), ((0, "shared"), "public or private")]
)
def test_invalid_hints_are_refused(arguments: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Cache(*arguments)


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_handshake_revisions_have_plain_results(revision: Any) -> None:
    listed = await ask(make_server(cache=Cache(5000)), "tools/list", revision=revision.date)
    assert list(listed["result"]) == ["tools"]


async def test_tools_are_listed_in_the_order_of_registration() -> None:
    client = DescribingClient(make_server())
    listed = [await client.result("tools/list") for _ in range(3)]
    assert [[tool["name"] for tool in page["tools"]] for page in listed] == [["add", "marked", "empty"]] * 3


def talkative() -> Server:
    server = Server("test")

    @server.tool
    async def talk(ctx: Context) -> str:
        for level in ("debug", "info", "error"):
            await ctx.log(level, f"a {level}", logger="l")
        return "said"

    return server


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (None, []),
        ("debug", ["debug", "info", "error"]),
        ("info", ["info", "error"]),
        ("warning", ["error"]),
        ("emergency", []),
    ],
)
async def test_log_messages_are_sent_on_request_only(level: str | None, expected: list[str]) -> None:
    client = DescribingClient(talkative())
    meta = {} if level is None else {LOG_LEVEL: level}
    assert text_of(await client.result("tools/call", {"name": "talk"}, meta=meta)) == "said"
    logged = [client.heard.get_nowait()["params"] for _ in range(client.heard.qsize())]
    assert logged == [{"level": level, "data": f"a {level}", "logger": "l"} for level in expected]


async def test_log_level_applies_to_one_request_only() -> None:
    """META-09: nothing carries over from earlier requests."""
    client = DescribingClient(talkative())
    await client.result("tools/call", {"name": "talk"}, meta={LOG_LEVEL: "error"})
    await client.result("tools/call", {"name": "talk"})
    assert client.heard.qsize() == 1


@pytest.mark.parametrize(
    ("meta", "trace"),
    [
        ({}, {}),
        ({"traceparent": "00-a-b-01"}, {"traceparent": "00-a-b-01"}),
        (
            {"traceparent": "00-a-b-01", "tracestate": "v=1", "baggage": "k=v", "com.example/x": 1},
            {"traceparent": "00-a-b-01", "tracestate": "v=1", "baggage": "k=v"},
        ),
        ({"traceparent": 5, "baggage": None}, {}),
    ],
)
async def test_trace_context_reaches_the_handler(meta: dict[str, Any], trace: dict[str, str]) -> None:
    """META-13."""
    server = Server("test")

    @server.tool
    async def traced(ctx: Context) -> str:
        return json.dumps(ctx.trace)

    result = await DescribingClient(server).result("tools/call", {"name": "traced"}, meta=meta)
    assert json.loads(text_of(result)) == trace


@pytest.mark.parametrize("meta", [None, 5, "x", []])
async def test_invalid_meta_is_ignored(meta: Any) -> None:
    server = Server("test")

    @server.tool
    async def traced(ctx: Context) -> str:
        return json.dumps([ctx.meta, ctx.trace])

    answer = await ask(server, "tools/call", name="traced", arguments={}, _meta=meta)
    assert json.loads(answer["result"]["content"][0]["text"]) == [{}, {}]


async def test_unknown_resource_is_invalid_params() -> None:
    """-32002 is used in the handshake revisions only."""
    assert await DescribingClient(make_server()).error("resources/read", {"uri": "notes://b"}) == {
        "code": -32602,
        "message": "resource not found: notes://b",
        "data": {"uri": "notes://b"},
    }


async def test_url_elicitation_is_a_question_and_never_an_error() -> None:
    """-32042 is used in one handshake revision only; here the client gets a question, or a reason."""
    server = Server("test")

    @server.tool
    async def visit(ctx: Context) -> str:
        elicited = await ctx.elicit_url("Pay", "https://pay.example")
        await ctx.elicitation_complete(elicited.id or "none")
        return elicited.action

    client = DescribingClient(server)
    reply = await client.call("visit")
    assert reply["resultType"] == "input_required"
    answered = {"inputResponses": {"question-1": {"action": "accept"}}, "requestState": reply["requestState"]}
    assert text_of(await client.call("visit", answered)) == "accept"
    assert client.heard.empty()
    lacking = DescribingClient(server, capabilities={"elicitation": {"form": {}}})
    assert (await lacking.error("tools/call", {"name": "visit"}))["code"] == -32021

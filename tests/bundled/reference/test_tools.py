"""Tools that return content or fail."""

from __future__ import annotations

import json
import logging
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Server, ToolError
from assay.bundled.reference import make_server
from assay.bundled.reference.tools import SKIES, add_up, weather_in
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import BadArguments, Revision, Structured
from tests.bundled.reference.driving import client_of, every, text_of

NEWEST = HANDSHAKE[-1]
NAMES = (
    *("echo", "sum", "get_weather", "show_content", "fail", "roll_dice", "long_task", "count"),
    "log_each_level",
    *("ask_user", "ask_model", "ask_roots", "ask_visit", "edit_resource", "load_plugin", "unload_plugin"),
)


@pytest.fixture
def server() -> Server:
    return make_server()


async def test_every_tool_is_listed_with_a_title_and_a_description(server: Server) -> None:
    async with client_of(server, NEWEST) as client:
        tools = await every(client, "tools")
    assert [tool["name"] for tool in tools] == list(NAMES)
    assert all(tool["title"] and tool["description"] for tool in tools)
    schemas = {tool["name"]: tool.get("outputSchema", {}).get("properties", {}) for tool in tools}
    assert list(schemas["sum"]) == ["total"]
    assert list(schemas["get_weather"]) == ["temperature", "conditions"]


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_echo_sum_and_weather(server: Server, revision: Revision) -> None:
    async with client_of(server, revision) as client:
        assert text_of(await client.call("echo", message="grüß dich")) == "grüß dich"
        total = await client.call("sum", a=7, b=8)
        assert text_of(total) == '{"total":15}'
        weather = await client.call("get_weather", location="New York")
        text, again = (block["text"] for block in weather["content"])
        assert text == "Current weather in New York:\nTemperature: 72°F\nConditions: Partly cloudy"
        assert json.loads(again) == {"temperature": 72, "conditions": "Partly cloudy"}
    structured = None if revision.structured is Structured.ABSENT else {"total": 15}
    assert total.get("structuredContent") == structured


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
async def test_sum_adds_floats_or_reports_an_overflow(a: float, b: float) -> None:
    if math.isinf(a + b):
        with pytest.raises(ToolError):
            await add_up(a, b)
    else:
        assert (await add_up(a, b)).total == a + b


@pytest.mark.parametrize("location", ["Oslo", "12345", " Phoenix ", "\ud800", "x" * 10_000])
def test_weather_of_a_location_is_constant(location: str) -> None:
    temperature, conditions = weather_in(location)
    assert 0 < temperature < 100 and conditions in SKIES
    assert weather_in(location) == (temperature, conditions)


@pytest.mark.parametrize("arguments", [{}, {"location": 5}, {"location": None}, {"town": "x"}])
@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_invalid_arguments_are_refused_as_the_revision_requires(
    server: Server, revision: Revision, arguments: dict[str, Any]
) -> None:
    params = {"name": "get_weather", "arguments": arguments}
    async with client_of(server, revision) as client:
        if revision.bad_arguments is BadArguments.RPC_ERROR:
            assert (await client.error("tools/call", params))["code"] == -32602
        else:
            assert (await client.result("tools/call", params))["isError"] is True


async def test_empty_location_is_an_error(server: Server) -> None:
    async with client_of(server, NEWEST) as client:
        assert (await client.call("get_weather", location=" "))["isError"] is True


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_each_type_of_content_alone_and_together(server: Server, revision: Revision) -> None:
    kinds = ("text", "image", "audio", "resource_link", "resource")
    async with client_of(server, revision) as client:
        together = (await client.call("show_content"))["content"]
        alone = [(await client.call("show_content", kind=kind))["content"] for kind in kinds]
        assert [[block] for block in together] == alone
    substitutes = {"audio": "resource", "resource_link": "text"}
    expected = [kind if kind in revision.content else substitutes[kind] for kind in kinds]
    assert [block["type"] for block in together] == expected


async def test_each_way_to_fail(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    async with client_of(server, NEWEST) as client:
        result = await client.call("fail")
        assert (result["isError"], text_of(result)) == (True, "This tool fails on purpose")
        error = await client.error("tools/call", {"name": "fail", "arguments": {"how": "protocol"}})
        assert (error["code"], error["data"]) == (-31000, {"how": "protocol"})
        with caplog.at_level(logging.CRITICAL, logger="assay"):
            crashed = await client.call("fail", how="crash")
        assert crashed["isError"] is True and "details" not in text_of(crashed)


@pytest.mark.parametrize("seed_compat", [False, True])
async def test_an_unknown_tool(seed_compat: bool) -> None:
    async with client_of(make_server(seed_compat=seed_compat), NEWEST) as client:
        error = await client.error("tools/call", {"name": "nothing", "arguments": {}})
    assert error["code"] == (-32601 if seed_compat else -32602)

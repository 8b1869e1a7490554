"""Results are checked against the output schemas of listed tools, also those of hostile servers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest

from assay import Client, ClientLimits, InvalidAnswer, Server, ToolFailed
from assay.revisions.registry import DATES
from tests.client.scripted import HttpRequest, Writer, answering, http_response, raw_http, result

POINT: Final = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["x"],
}


@contextlib.asynccontextmanager
async def connected(
    schema: Any, structured: Any, is_error: bool = False, **options: Any
) -> AsyncIterator[Client]:
    """A client of a server whose only tool has this schema and this result."""

    async def respond(request: HttpRequest, writer: Writer) -> None:
        tool = {"name": "get", "inputSchema": {"type": "object"}, "outputSchema": schema}
        reply: dict[str, Any] = {"content": [], "isError": is_error}
        if structured is not None:
            reply["structuredContent"] = structured
        answer = {"tools": [tool]} if request.message["method"] == "tools/list" else reply
        writer.write(http_response("200 OK", result(request, answer)))

    async with raw_http(answering(respond)) as server, Client(server.url, **options) as client:
        yield client


async def test_a_result_that_fits_is_returned() -> None:
    async with connected(POINT, {"x": 1, "tags": ["a"]}) as client:
        await client.tools()
        assert (await client.call("get")).structured == {"x": 1, "tags": ["a"]}


@pytest.mark.parametrize(
    ("structured", "reason"),
    [
        ({"x": "one"}, r'at \$\.x: "one" is not of type "integer"'),
        ({"x": 1, "tags": ["a", 2]}, r'at \$\.tags\[1\]: 2 is not of type "string"'),
        ({}, r'at \$: "x" is a required property'),
        (None, "no structured content"),
        ({"x": "\x1b[31m" + "a" * 1000}, r"at \$\.x: \"␛\[31ma+…|u001b"),
    ],
)
async def test_a_result_that_does_not_fit_is_an_error_with_the_path(structured: Any, reason: str) -> None:
    async with connected(POINT, structured) as client:
        await client.tools()
        with pytest.raises(InvalidAnswer, match=reason) as caught:
            await client.call("get")
        assert "\x1b" not in str(caught.value)
        assert len(str(caught.value)) < 600


async def test_tools_that_were_not_listed_are_not_checked() -> None:
    async with connected(POINT, {"x": "one"}) as client:
        assert (await client.call("get")).structured == {"x": "one"}


async def test_the_check_can_be_switched_off() -> None:
    async with connected(POINT, {"x": "one"}, check_output=False) as client:
        await client.tools()
        assert (await client.call("get")).structured == {"x": "one"}


async def test_a_failure_of_the_tool_is_not_checked() -> None:
    async with connected(POINT, None, is_error=True) as client:
        await client.tools()
        with pytest.raises(ToolFailed):
            await client.call("get")
        assert (await client.call_tool("get", check=False)).is_error


@pytest.mark.parametrize("revision", DATES)
async def test_results_of_our_servers_fit_in_every_revision(revision: str) -> None:
    server = Server("numbers")

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    async with Client(server, revision=revision) as client:
        await client.tools()
        assert await client.call_as(int, "add", a=1, b=2) == 3


def doubled(levels: int) -> dict[str, Any]:
    """A schema with 2 ** levels ways to its end."""
    parts = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/a0", "$defs": {**parts, f"a{levels}": {"type": "string"}}}


TREE: Final = {
    "$defs": {
        "tree": {
            "anyOf": [
                {
                    "properties": {"next": {"$ref": "#/$defs/tree"}, "x": {"type": "integer"}},
                    "required": [name],
                }
                for name in ("x", "y")
            ]
        }
    },
    "$ref": "#/$defs/tree",
}


def nested(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"next": value}
    return value


HOSTILE: Final[dict[str, tuple[Any, Any, str]]] = {
    "a pattern that backtracks": (
        {"type": "object", "properties": {"x": {"pattern": r"^(a+)+$"}}},
        {"x": "a" * 5000 + "!"},
        "does not fit",
    ),
    "a pattern that only backtracking can match": (
        {"type": "object", "properties": {"x": {"items": {"pattern": r"^(?:(a+)\1)+$"}}}},
        {"x": ["a" * 301 + "!"] * 3000},
        "does not fit|take too long",
    ),
    "a pattern that takes much memory": (
        {"pattern": "((a{100}){100}){100}"},
        {"x": 1},
        "cannot be used: .*regex",
    ),
    "many patterns": (
        {"anyOf": [{"pattern": f"a{{{n}}}"} for n in range(300)]},
        {"x": 1},
        "more than 200 patterns",
    ),
    "a remote reference": (
        {"$ref": "http://127.0.0.1:1/schema.json"},
        {"x": 1},
        r"refers to http://127\.0\.0\.1:1/schema\.json, and nothing is fetched",
    ),
    "a reference to a file": ({"$ref": "file:///etc/passwd"}, {"x": 1}, "nothing is fetched"),
    "a remote dialect": ({"$schema": "http://127.0.0.1:1/dialect"}, {"x": 1}, "cannot be used"),
    "a reference to nothing": (
        {"$ref": "#/$defs/none"},
        {"x": 1},
        "refers to #/.defs/none, which it does not",
    ),
    "a reference to itself": ({"$ref": "#"}, {"x": 1}, "refers to itself"),
    "more ways than atoms": (doubled(300), {"x": 1}, "take too long"),
    "ways that double with each level of the value": (TREE, nested(50), "take too long"),
    "a huge schema": ({"description": "a" * 300_000}, {"x": 1}, "the limit schema_bytes"),
    "an invalid schema": ({"type": "nothing"}, {"x": 1}, "cannot be used"),
    "no schema at all": ("object", {"x": 1}, "cannot be used"),
}


@pytest.mark.parametrize("case", HOSTILE)
async def test_a_hostile_schema_is_one_clear_error_in_bounded_time(case: str) -> None:
    schema, structured, reason = HOSTILE[case]
    async with connected(schema, structured) as client:
        await client.tools()
        start = time.thread_time()
        with pytest.raises(InvalidAnswer, match=reason):
            await client.call("get")
        assert time.thread_time() - start < 2


async def test_a_deep_schema_is_an_error_of_the_list() -> None:
    schema: dict[str, Any] = {}
    for _ in range(100):
        schema = {"not": schema}
    async with connected(schema, {"x": 1}) as client:
        with pytest.raises(InvalidAnswer, match=r"nest|depth|deep"):
            await client.tools()


async def test_usual_recursive_schemas_are_checked() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    }
    leaf = {"name": "leaf", "children": []}
    tree = {"name": "root", "children": [{"name": "branch", "children": [leaf] * 200}] * 20}
    async with connected(schema, tree) as client:
        await client.tools()
        assert (await client.call("get")).structured == tree
    wrong = {"name": "root", "children": [leaf, {"name": 1}]}
    async with connected(schema, wrong) as client:
        await client.tools()
        with pytest.raises(InvalidAnswer, match=r"at \$\.children\[1\]\.name: 1 is not of type"):
            await client.call("get")


async def test_anchors_are_references_within_the_schema() -> None:
    schema = {
        "$defs": {"number": {"$anchor": "number", "type": "integer"}},
        "properties": {"x": {"$ref": "#number"}},
    }
    async with connected(schema, {"x": "one"}) as client:
        await client.tools()
        with pytest.raises(InvalidAnswer, match=r"at \$\.x"):
            await client.call("get")


# Lists.


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (ClientLimits(pages=20), "more than 20 pages, the limit pages"),
        (ClientLimits(items=30), "more than 30 entries, the limit items"),
        (ClientLimits(list_bytes=5000), "more than 5000 bytes, the limit list_bytes"),
    ],
)
async def test_endless_pages_are_bounded_in_number_and_bytes(limits: ClientLimits, reason: str) -> None:
    tool = {"name": "x" * 100, "inputSchema": {"type": "object"}}

    async def respond(request: HttpRequest, writer: Writer) -> None:
        cursor = int(request.message["params"].get("cursor", 0)) + 1
        page = {"tools": [tool, tool], "nextCursor": str(cursor)}
        writer.write(http_response("200 OK", result(request, page)))

    async with raw_http(answering(respond)) as server, Client(server.url, limits=limits) as client:
        with pytest.raises(InvalidAnswer, match=reason):
            await client.tools()
        assert len(server.requests) <= 23

"""Return values of tools as content and structured content."""

from __future__ import annotations

import dataclasses
import datetime
import json
from typing import Any, Literal, TypedDict

import attrs
import jsonschema_rs
import msgspec
import pydantic
import pytest

from assay import Audio, Contents, EmbeddedResource, Image, ResourceLink, Scope, Server, Text, ToolResult
from assay.revisions.registry import HANDSHAKE, REVISIONS
from tests.server.scripted import ask, call


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Place(TypedDict):
    city: str


@attrs.define
class Size:
    width: float


class Stop(msgspec.Struct):
    name: str
    at: Point | None = None


class Reading(pydantic.BaseModel):
    value: float
    taken: datetime.date
    unit_name: str = pydantic.Field(default="K", alias="unitName")


def returning(annotation: Any, value: Any, **options: Any) -> Server:
    """A server with one tool that declares one type and returns a value."""
    server = Server("test")

    async def tool():  # type: ignore[no-untyped-def]
        return value

    if annotation is not Ellipsis:
        tool.__annotations__["return"] = annotation
    server.tools.add(tool, **options)
    return server


async def listed(server: Server) -> dict[str, Any]:
    (tool,) = (await ask(server, "tools/list"))["result"]["tools"]
    return tool  # type: ignore[no-any-return]


OBJECTS = [
    (Point, Point(1), {"x": 1, "y": 0}),
    (Place, {"city": "Rome"}, {"city": "Rome"}),
    (Size, Size(2.5), {"width": 2.5}),
    (Stop, Stop("a", Point(1, 2)), {"name": "a", "at": {"x": 1, "y": 2}}),
    (
        Reading,
        Reading(value=1, taken=datetime.date(2025, 1, 2)),
        {"value": 1.0, "taken": "2025-01-02", "unitName": "K"},
    ),
    (dict[str, int], {"a": 1}, {"a": 1}),
    (dict[str, Any], {"a": [None]}, {"a": [None]}),
    (dict, {"a": "b"}, {"a": "b"}),
]
OTHERS = [
    (int, 3),
    (float, 2.5),
    (bool, True),
    (list[int], [1, 2]),
    (list[str], ["a"]),
    (str | None, None),
    (int | str, "a"),
    (Literal["a", "b"], "a"),
    (tuple[int, str], [1, "a"]),
]


@pytest.mark.parametrize(("annotation", "value", "structured"), OBJECTS)
async def test_object_is_structured_and_text(annotation: Any, value: Any, structured: dict[str, Any]) -> None:
    result = await call(returning(annotation, value), "tool")
    (block,) = result.pop("content")
    assert result == {"structuredContent": structured}
    assert (block["type"], json.loads(block["text"])) == ("text", structured)


@pytest.mark.parametrize(("annotation", "value"), OTHERS)
async def test_other_value_is_wrapped_into_an_object(annotation: Any, value: Any) -> None:
    result = await call(returning(annotation, value), "tool")
    (block,) = result.pop("content")
    assert result == {"structuredContent": {"result": value}}
    assert json.loads(block["text"]) == {"result": value}


@pytest.mark.parametrize(
    ("annotation", "value"), [*((kind, value) for kind, value, _ in OBJECTS), *OTHERS, (list[Reading], [])]
)
async def test_structured_content_fits_the_declared_schema(annotation: Any, value: Any) -> None:
    server = returning(annotation, value)
    schema = (await listed(server))["outputSchema"]
    assert schema["type"] == "object"
    jsonschema_rs.validate(schema, (await call(server, "tool"))["structuredContent"])


PLAIN = [
    (..., "a", [{"type": "text", "text": "a"}]),
    (str, "a", [{"type": "text", "text": "a"}]),
    (None, None, []),
    (Any, {"a": 1}, [{"type": "text", "text": '{"a":1}'}]),
    (..., [1, "a"], [{"type": "text", "text": '[1,"a"]'}]),
    (Text, Text("a"), [{"type": "text", "text": "a"}]),
    (Image, Image(b"\xff", "image/png"), [{"type": "image", "data": "/w==", "mimeType": "image/png"}]),
    (Audio, Audio(b"\xff", "audio/wav"), [{"type": "audio", "data": "/w==", "mimeType": "audio/wav"}]),
    (ResourceLink, ResourceLink("a:b", "b"), [{"type": "resource_link", "uri": "a:b", "name": "b"}]),
    (
        EmbeddedResource,
        EmbeddedResource(Contents("a:b", text="c")),
        [{"type": "resource", "resource": {"uri": "a:b", "text": "c"}}],
    ),
    (
        list[Text | Image],
        [Text("a"), Image(b"", "image/png")],
        [{"type": "text", "text": "a"}, {"type": "image", "data": "", "mimeType": "image/png"}],
    ),
    (tuple[Text, ...], (Text("a"),), [{"type": "text", "text": "a"}]),
    (Text | None, None, []),
    (..., [Text("a"), "b", 3], [{"type": "text", "text": text} for text in ("a", "b", "3")]),
]


@pytest.mark.parametrize(("annotation", "value", "content"), PLAIN)
async def test_content_is_sent_unchanged_and_has_no_schema(annotation: Any, value: Any, content: Any) -> None:
    server = returning(annotation, value)
    assert await call(server, "tool") == {"content": content}
    assert "outputSchema" not in await listed(server)


@pytest.mark.parametrize("annotation", [..., int])
@pytest.mark.parametrize("revision", REVISIONS, ids=str)
async def test_result_says_that_it_is_no_error(annotation: Any, revision: Any) -> None:
    """As the examples of the specification do."""
    params: dict[str, Any] = {"name": "tool", "arguments": {}}
    if revision not in HANDSHAKE:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": revision.date,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = await returning(annotation, 3).handle(message, scope=Scope(revision=revision))
    assert answer is not None and answer.count(b'"isError":false') == 1


async def test_whole_result_is_passed_through() -> None:
    result = ToolResult([Text("a")], {"b": 1}, is_error=True, meta={"com.example/c": 2})
    assert await call(returning(ToolResult, result), "tool") == {
        "content": [{"type": "text", "text": "a"}],
        "structuredContent": {"b": 1},
        "isError": True,
        "_meta": {"com.example/c": 2},
    }


FAILED = {"content": [{"type": "text", "text": "tool tool failed: internal error"}], "isError": True}


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Point, {"x": "1"}),
        (Point, None),
        (int, "3"),
        (Place, {}),
        (Reading, {"value": 1}),
        (dict[str, int], {"a": "b"}),
        (Any, object()),
        (..., {1: object()}),
        (str | None, 3),
    ],
)
async def test_value_of_another_type_is_an_internal_error(annotation: Any, value: Any, caplog: Any) -> None:
    assert await call(returning(annotation, value), "tool") == FAILED
    (record,) = caplog.records
    assert record.message.startswith(f"tool 'tool' returned {type(value).__qualname__}, expected ")


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (int, "abc", "returned str, expected int: 'abc'"),
        (Point, None, "returned NoneType, expected Point: None"),
        (list[Point], [{"x": "1"}], "returned list, expected list[Point]: [{'x': '1'}]"
         " (Expected `int`, got `str` - at `$[0].x`)"),
        (Literal["a", "b"], "c", "returned str, expected Literal['a', 'b']: 'c' (Invalid enum value 'c')"),
        (str | None, 3, "returned int, expected str | None: 3"),
        (ToolResult, ToolResult("a"), "returned str, expected a list of content blocks, as in"  # type: ignore[arg-type]
         " ToolResult([Text(...)]): 'a'"),
        (ToolResult, ToolResult(["a"]), "returned list, expected a list of content blocks, as in"  # type: ignore[list-item]
         " ToolResult([Text(...)]): ['a']"),
        (..., {1: {2}, 2: Point}, "returned dict, expected text, content blocks or a JSON value: "
         "{1: {2}, 2: <class 'test_output.Point'>} (type is not a JSON type)"),
    ],
)  # fmt: skip
async def test_bad_value_names_expected_and_got(annotation: Any, value: Any, text: str, caplog: Any) -> None:
    """In the log; and to the client, if the server is in debug mode."""
    server = returning(annotation, value)
    server.debug = True  # type: ignore[attr-defined, unused-ignore]
    (block,) = (await call(server, "tool"))["content"]
    module = f"{Point.__module__}."
    assert block["text"].replace(module, "test_output.") == f"tool 'tool' {text}"
    assert caplog.records[0].message == block["text"]


@pytest.mark.parametrize(
    ("method", "params", "text"),
    [
        ("prompts/get", {"name": "ask"}, "prompt 'ask' returned int, expected text, content blocks or"),
        ("resources/read", {"uri": "a:b"}, "resource 'a:b' returned type, expected text, bytes, Contents"),
        ("models/list", {}, "method 'models/list' returned int, expected an object: 3"),
    ],
)  # fmt: skip
async def test_bad_value_of_other_handlers_names_them(
    method: str, params: dict[str, Any], text: str, caplog: Any
) -> None:
    server = Server("test")
    server.prompt(name="ask")(lambda: 3)
    server.resource("a:b")(lambda: Point)
    server.method("models/list")(lambda: 3)
    assert (await ask(server, method, **params))["error"]["message"] == "internal error"
    assert text in caplog.text


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


@pytest.mark.parametrize(
    "value", ["x" * 10**6, ["x" * 1000] * 1000, "\x1b[2J\n::error::", Hostile(), [Hostile()]]
)
async def test_bad_value_is_shown_in_a_short_line_that_cannot_act(value: Any, caplog: Any) -> None:
    assert await call(returning(Point, value), "tool") == FAILED
    (record,) = caplog.records
    assert len(record.message) < 600
    assert record.message.isprintable()


@pytest.mark.parametrize(
    ("value", "block"),
    [
        (b"caf\xc3\xa9", {"type": "text", "text": "café"}),
        (bytearray(b"abc"), {"type": "text", "text": "abc"}),
        (b"\x89PNG\r\n\x1a\n", {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}),
        (b"fLaC\0\xff", {"type": "audio", "data": "ZkxhQwD/", "mimeType": "audio/flac"}),
        (
            b"\0\xff",
            {
                "type": "resource",
                "resource": {"uri": "file:///result", "blob": "AP8=", "mimeType": "application/octet-stream"},
            },
        ),
    ],
)
@pytest.mark.parametrize("annotation", [..., bytes])
async def test_bytes_become_the_block_that_they_are(value: bytes, block: Any, annotation: Any) -> None:
    server = returning(annotation, value)
    assert await call(server, "tool") == {"content": [block]}
    assert "outputSchema" not in await listed(server)
    assert (await call(returning(..., [Text("a"), value]), "tool"))["content"][1] == block


OUTPUT_SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "x-kept": True,
}


async def test_given_output_schema_is_sent_unchanged_and_enforced() -> None:
    server = returning(..., {"a": 1}, output_schema=OUTPUT_SCHEMA)
    assert (await listed(server))["outputSchema"] == OUTPUT_SCHEMA
    assert (await call(server, "tool"))["structuredContent"] == {"a": 1}


@pytest.mark.parametrize(
    "value", [{"a": "1"}, {}, "text", ToolResult([], {"a": "1"}), ToolResult([Text("no structure")])]
)
async def test_value_that_violates_the_given_schema_is_an_internal_error(value: Any, caplog: Any) -> None:
    assert await call(returning(..., value, output_schema=OUTPUT_SCHEMA), "tool") == FAILED
    assert len(caplog.records) == 1


async def test_error_result_needs_no_structured_content() -> None:
    server = returning(..., ToolResult([Text("no")], is_error=True), output_schema=OUTPUT_SCHEMA)
    assert await call(server, "tool") == {"content": [{"type": "text", "text": "no"}], "isError": True}

"""Tool parameters mirrored in headers: valid annotations, and validation of calls."""

from __future__ import annotations

from base64 import b64encode
from typing import Annotated, Any

import pytest

from assay import Header, RegistrationError, Server
from assay.revisions.registry import HANDSHAKE
from tests.driving.describing import DescribingClient, text_of
from tests.server.scripted import call

STRING = {"type": "string", "x-mcp-header": "Region"}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def register(input_schema: dict[str, Any]) -> Server:
    server = Server("test")

    @server.tool(name="tool", input_schema=input_schema)
    async def tool(**arguments: Any) -> str:
        return "served"

    return server


async def listed(server: Server) -> Any:
    (tool,) = (await DescribingClient(server).result("tools/list"))["tools"]
    return tool["inputSchema"]


async def test_a_parameter_is_marked_in_its_annotation() -> None:
    server = Server("test")

    @server.tool
    async def look(
        region: Annotated[str, "Where to look", Header("Region")],
        count: Annotated[int, Header("X-Count")] = 1,
        dry: Annotated[bool, Header("Dry")] = False,
    ) -> str:
        raise AssertionError("not reached")

    assert (await listed(server))["properties"] == {
        "region": {"type": "string", "description": "Where to look", "x-mcp-header": "Region"},
        "count": {"type": "integer", "default": 1, "x-mcp-header": "X-Count"},
        "dry": {"type": "boolean", "default": False, "x-mcp-header": "Dry"},
    }


@pytest.mark.parametrize(
    "input_schema",
    [
        schema(region=STRING),
        schema(region=STRING, other={"type": "integer", "x-mcp-header": "a!#$%&'*+-.^_`|~Z9"}),
        schema(outer=schema(inner=schema(region=STRING))),
        # Not annotations: a parameter with that name, and values that look like schemas.
        schema(**{"x-mcp-header": {"type": "string"}}),
        schema(a={"type": "object", "default": {"x-mcp-header": "X"}, "enum": [{"x-mcp-header": 5}]}),
    ],
)
async def test_given_schema_may_have_the_keyword(input_schema: dict[str, Any]) -> None:
    assert await listed(register(input_schema)) == input_schema


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        *(
            ({"type": "string", "x-mcp-header": name}, "must be a token")
            for name in (
                "",
                " ",
                "a b",
                "a:b",
                "a\rb",
                "a\nb",
                "a\x00",
                "größe",
                "(a)",
                "a/b",
                None,
                5,
                ["a"],
                True,
            )
        ),
        *(
            ({"x-mcp-header": "A", "type": kind}, "strings, integers and booleans")
            for kind in ("number", "object", "array", "null", ["string", "null"])
        ),
        ({"x-mcp-header": "A"}, "strings, integers and booleans"),
        ({"anyOf": [{"type": "string"}], "x-mcp-header": "A"}, "strings, integers and booleans"),
    ],
)
def test_annotations_that_clients_would_reject_are_refused(field: dict[str, Any], problem: str) -> None:
    """XH-02, XH-03, XH-04, XH-06: clients drop the whole tool, so registration must fail."""
    with pytest.raises(RegistrationError, match=problem) as caught:
        register(schema(marked=field))
    assert str(caught.value).startswith("tool tool: parameter marked: ")


@pytest.mark.parametrize(
    "input_schema",
    [
        schema(a={"type": "array", "items": STRING}),
        schema(a={"type": "array", "prefixItems": [STRING]}),
        schema(a={"anyOf": [STRING]}),
        schema(a={"oneOf": [schema(b=STRING)]}),
        schema(a={"not": STRING}),
        schema() | {"allOf": [schema(a=STRING)]},
        schema() | {"if": schema(a=STRING)},
        schema() | {"then": schema(a=STRING), "else": schema(a=STRING)},
        schema() | {"$defs": {"a": STRING}},
        schema(a={"$ref": "#/$defs/a"}) | {"$defs": {"a": schema(b=STRING)}},
        schema() | {"patternProperties": {"^a": STRING}},
        schema() | {"additionalProperties": STRING},
        schema() | {"x-mcp-header": "Region"},
    ],
)
def test_annotations_outside_properties_are_refused(input_schema: dict[str, Any]) -> None:
    """XH-07: an annotated parameter must be reachable through `properties` only."""
    with pytest.raises(RegistrationError, match="reached through `properties`"):
        register(input_schema)


def test_two_parameters_cannot_share_a_header() -> None:
    """XH-05: header names are case-insensitive."""
    marked = schema(a=STRING, b=schema(c={"type": "string", "x-mcp-header": "rEGION"}))
    with pytest.raises(RegistrationError, match="repeated in one header: mcp-param-region"):
        register(marked)


async def outcome(
    input_schema: dict[str, Any], arguments: Any, *headers: tuple[str, Any], **options: Any
) -> Any:
    """The outcome of a call with these headers: `served`, or the code and message of an error."""
    raw = [(name.encode(), value if isinstance(value, bytes) else value.encode()) for name, value in headers]
    client = DescribingClient(register(input_schema), transport=options.get("transport", "http"))
    params = {"name": "tool", "arguments": arguments}
    answer = await client.request("tools/call", params, raw_headers=raw)
    if "error" in answer:
        return answer["error"]["code"], answer["error"]["message"]
    return text_of(answer["result"])


def wrap(text: str) -> str:
    return f"=?base64?{b64encode(text.encode()).decode()}?="


MARKED = {
    "string": schema(v=STRING),
    "integer": schema(v={"type": "integer", "x-mcp-header": "Region"}),
    "boolean": schema(v={"type": "boolean", "x-mcp-header": "Region"}),
}
MISSING = (-32020, "header missing: Mcp-Param-Region")
DIFFERS = (-32020, "header differs from the body: Mcp-Param-Region")


@pytest.mark.parametrize(
    ("kind", "value", "header"),
    [
        ("string", "eu", "eu"),
        ("string", "", ""),
        ("string", "42", "42"),
        ("string", "true", "true"),
        ("string", "Hello, 世界", wrap("Hello, 世界")),
        ("string", " padded ", wrap(" padded ")),
        ("string", "a\r\nMcp-Name: b", wrap("a\r\nMcp-Name: b")),
        ("string", "=?base64?YQ==?=", wrap("=?base64?YQ==?=")),
        ("string", "eu", wrap("eu")),
        ("integer", 42, "42"),
        ("integer", 42, "42.0"),
        ("integer", 42, "4.2e1"),
        ("integer", -7, "-7"),
        ("integer", 0, "0"),
        ("integer", 2**53 - 1, "9007199254740991"),
        ("boolean", True, "true"),
        ("boolean", False, "false"),
    ],
)
async def test_matching_header_is_accepted(kind: str, value: Any, header: str) -> None:
    """XH-10, XH-11, XH-12, XH-18, XH-19."""
    assert await outcome(MARKED[kind], {"v": value}, ("mcp-param-region", header)) == "served"


@pytest.mark.parametrize(
    ("kind", "value", "header"),
    [
        ("string", "eu", "EU"),
        ("string", "eu", "us"),
        ("string", "eu", ""),
        ("string", "", "eu"),
        ("string", "=?base64?YQ==?=", "=?base64?YQ==?="),
        ("integer", 42, "43"),
        ("integer", 42, "42.5"),
        ("integer", 1000, "1_000"),
        ("integer", 42, "forty-two"),
        ("integer", 42, ""),
        ("integer", 42, "NaN"),
        ("integer", 42, "true"),
        ("integer", 42, '"42"'),
        ("integer", 42, "0x2a"),
        ("boolean", True, "True"),
        ("boolean", True, "1"),
        ("boolean", False, "true"),
    ],
)
async def test_a_header_that_differs_is_refused(kind: str, value: Any, header: str) -> None:
    assert await outcome(MARKED[kind], {"v": value}, ("mcp-param-region", header)) == DIFFERS


async def test_a_header_that_is_missing_is_refused() -> None:
    """XH-16."""
    assert await outcome(MARKED["string"], {"v": "eu"}) == MISSING
    assert await outcome(MARKED["string"], {"v": "eu"}, ("mcp-param-other", "eu")) == MISSING


@pytest.mark.parametrize(
    ("arguments", "begins"), [({}, "served"), (None, "served"), ({"v": None}, "invalid arguments for tool")]
)
async def test_without_a_value_no_header_is_expected(arguments: Any, begins: str) -> None:
    """XH-15; a header without its parameter is refused."""
    assert (await outcome(MARKED["string"], arguments)).startswith(begins)
    assert await outcome(MARKED["string"], arguments, ("mcp-param-region", "eu")) == (
        -32020,
        "header without a parameter: Mcp-Param-Region",
    )


@pytest.mark.parametrize(
    "header", [b"e\x00u", b"e\ru", b"e\nu", b"e\x7fu", b"e\xffu", b"=?base64?!?=", "größe".encode()]
)
async def test_header_with_invalid_characters_is_refused(header: bytes) -> None:
    """XH-17."""
    code, _ = await outcome(MARKED["string"], {"v": "eu"}, ("mcp-param-region", header))
    assert code == -32020


async def test_duplicate_header_is_refused() -> None:
    """A proxy might read the other one."""
    twice = (("mcp-param-region", "us"), ("mcp-param-region", "eu"))
    assert await outcome(MARKED["string"], {"v": "eu"}, *twice) == (
        -32020,
        "header given twice: mcp-param-region",
    )
    unknown = (("mcp-param-x", "1"), ("mcp-param-x", "2"), ("mcp-param-region", "eu"))
    assert await outcome(MARKED["string"], {"v": "eu"}, *unknown) == "served"


async def test_names_of_headers_have_no_case() -> None:
    assert await outcome(MARKED["string"], {"v": "eu"}, ("MCP-Param-REGION", "eu")) == "served"


async def test_nested_parameters_are_mirrored() -> None:
    deep = schema(outer=schema(inner=STRING))
    arguments = {"outer": {"inner": "eu"}}
    assert await outcome(deep, arguments, ("mcp-param-region", "eu")) == "served"
    assert await outcome(deep, arguments) == MISSING
    assert await outcome(deep, {"outer": {}}) == "served"


@pytest.mark.parametrize("transport", ["stdio", "memory"])
async def test_other_transports_have_no_headers(transport: str) -> None:
    assert await outcome(MARKED["string"], {"v": "eu"}, transport=transport) == "served"


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_handshake_revisions_expect_no_headers(revision: Any) -> None:
    result = await call(register(MARKED["string"]), "tool", {"v": "eu"}, revision=revision.date)
    assert result["content"] == [{"type": "text", "text": "served"}]

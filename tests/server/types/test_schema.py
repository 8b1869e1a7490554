"""Given JSON Schemas are sent unchanged and enforced; nothing is ever fetched."""

from __future__ import annotations

import copy
from types import MappingProxyType
from typing import Any

import msgspec
import pydantic
import pytest

from assay import RegistrationError, Server
from assay.server.types.custom_type import read_custom, write_custom
from assay.server.types.schema import schema_of
from assay.server.types.validator import Validator
from tests.server.scripted import ask, call

READY = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://example.com/person.json",
    "type": "object",
    "title": "Person",
    "$defs": {"name": {"type": "string", "minLength": 1}},
    "properties": {
        "name": {"$ref": "#/$defs/name"},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "prefixItems": [{"const": "a"}], "items": False},
    },
    "required": ["name"],
    "additionalProperties": False,
    "dependentRequired": {"age": ["tags"]},
    "x-vendor": {"kept": None},
}


def person_server(schema: dict[str, Any] = READY) -> Server:
    server = Server("test")

    @server.tool(input_schema=schema)
    async def person(**arguments: Any) -> str:
        return repr(arguments)

    return server


async def test_given_schema_is_sent_unchanged() -> None:
    (listed,) = (await ask(person_server(), "tools/list"))["result"]["tools"]
    assert listed["inputSchema"] == READY


async def test_given_schema_is_not_modified() -> None:
    before = copy.deepcopy(READY)
    await call(person_server(), "person", {"name": "Ada"})
    assert before == READY


@pytest.mark.parametrize("arguments", [{"name": "Ada"}, {"name": "Ada", "age": 3, "tags": ["a"]}])
async def test_valid_arguments_reach_the_function(arguments: dict[str, Any]) -> None:
    result = await call(person_server(), "person", arguments)
    assert result == {"content": [{"type": "text", "text": repr(arguments)}]}


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({}, "`$`"),
        ({"name": ""}, "`$.name`"),
        ({"name": "Ada", "age": -1, "tags": []}, "`$.age`"),
        ({"name": "Ada", "age": 1}, "`$`"),
        ({"name": "Ada", "tags": ["b"]}, "`$.tags[0]`"),
        ({"name": "Ada", "more": 1}, "`$`"),
        ([], "`$`"),
    ],
)
async def test_invalid_arguments_are_refused_with_their_path(arguments: Any, place: str) -> None:
    answer = await ask(person_server(), "tools/call", name="person", arguments=arguments)
    assert answer["result"]["isError"] is True
    assert answer["result"]["content"][0]["text"].endswith(f"at {place}")


async def test_function_gets_only_the_arguments_it_names() -> None:
    server = Server("test")

    @server.tool(input_schema={"type": "object"})
    async def narrow(name: str, age: int = 7) -> str:
        return f"{name} {age}"

    result = await call(server, "narrow", {"name": "Ada", "more": 1})
    assert result == {"content": [{"type": "text", "text": "Ada 7"}]}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string"},
        {"type": ["object", "null"]},
        {"type": "object", "properties": {"a": {"type": "nonsense"}}},
        {"type": "object", "properties": {"a": {"minimum": "low"}}},
        {"type": "object", "required": "a"},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/missing"}}},
    ],
)
def test_schema_that_cannot_describe_arguments_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(RegistrationError):
        person_server(schema)


@pytest.mark.parametrize(
    "reference",
    ["https://example.com/other.json", "http://127.0.0.1:1/a.json", "file:///etc/passwd", "other.json"],
)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_external_reference_is_never_fetched(keyword: str, reference: str) -> None:
    with pytest.raises(RegistrationError):
        Validator({"type": "object", "properties": {"a": {keyword: reference}}})


def test_remote_dialect_is_never_fetched() -> None:
    with pytest.raises(RegistrationError):
        Validator({"$schema": "https://example.com/dialect", "type": "object"})


def test_output_schema_needs_an_object_at_its_root() -> None:
    server = Server("test")
    with pytest.raises(RegistrationError, match="tool plain"):
        server.tools.add(lambda: None, name="plain", output_schema={"type": "string"})


class Leaf(pydantic.BaseModel):
    value: int


class Tree(pydantic.BaseModel):
    left: Leaf
    right: Leaf | None = None


LEAF = {
    "title": "Leaf",
    "type": "object",
    "properties": {"value": {"type": "integer"}},
    "required": ["value"],
}
"""Without the titles that pydantic makes of the names of fields."""


def test_pydantic_model_describes_itself() -> None:
    assert schema_of(Tree) == {
        "title": "Tree",
        "type": "object",
        "properties": {
            "left": {"$ref": "#/$defs/Leaf"},
            "right": {"anyOf": [{"$ref": "#/$defs/Leaf"}, {"type": "null"}], "default": None},
        },
        "required": ["left"],
        "$defs": {"Leaf": LEAF},
    }


def test_pydantic_model_in_a_list_is_defined_at_the_root() -> None:
    schema = schema_of(list[Tree])
    assert schema["$defs"] == {"Leaf": LEAF}


def test_pydantic_problem_is_one_line_without_links() -> None:
    with pytest.raises(ValueError, match=r"^left\.value: [^\n]*$") as caught:
        read_custom(Tree, {"left": {"value": "x"}})
    assert "https://" not in str(caught.value)


def test_pydantic_model_writes_itself() -> None:
    assert write_custom(Tree(left=Leaf(value=1))) == {"left": {"value": 1}, "right": None}


def test_read_only_mapping_is_an_object() -> None:
    value = {"outer": MappingProxyType({"inner": (1, 2)})}
    assert msgspec.json.encode(value, enc_hook=write_custom) == b'{"outer":{"inner":[1,2]}}'


class Opaque: ...


@pytest.mark.parametrize("use", [lambda: read_custom(Opaque, 1), lambda: write_custom(Opaque())])
def test_other_types_are_refused(use: Any) -> None:
    with pytest.raises(NotImplementedError, match="Opaque"):
        use()

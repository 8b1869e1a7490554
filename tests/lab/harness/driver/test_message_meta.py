"""Headers that mirror the body, arguments derived from schemas, names in every spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.lab.harness.driver.argument import arguments_for, value_for
from assay.lab.harness.driver.message_meta import (
    CAPABILITIES_KEY,
    VERSION_KEY,
    as_header,
    declared,
    mirror_headers,
    param_headers,
)
from assay.lab.harness.naming import dashed, id_of, matches
from assay.revisions.registry import HANDSHAKE, PER_REQUEST

NEW = PER_REQUEST[-1]


def test_headers_mirror_version_method_and_name() -> None:
    params = declared(NEW, {"name": "é"}, {})
    headers = mirror_headers(NEW, {"method": "tools/call", "params": params})
    assert headers == {
        "MCP-Protocol-Version": NEW.date,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "=?base64?w6k=?=",
    }


@pytest.mark.parametrize("message", [None, [], {"method": 5}, {"params": []}, {"params": {"_meta": 3}}])
def test_malformed_messages_have_no_name_header(message: object) -> None:
    assert mirror_headers(NEW, message)["Mcp-Name"] is None


def test_declaration_is_added_changed_and_left_out() -> None:
    assert declared(HANDSHAKE[0], {"a": 1}, {}) == {"a": 1}
    assert declared(NEW, {}, {"roots": {}})["_meta"][CAPABILITIES_KEY] == {"roots": {}}
    assert VERSION_KEY not in declared(NEW, {"_meta": {VERSION_KEY: None}}, {})["_meta"]
    assert declared(NEW, [1], {}) == [1]


@given(st.text(max_size=20).filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text)))
def test_any_text_fits_into_a_header(text: str) -> None:
    header = as_header(text)
    assert header.isascii() and header.isprintable()
    assert header == header.strip()


def test_marked_arguments_become_headers_at_any_depth() -> None:
    schema = {
        "properties": {
            "region": {"x-mcp-header": "Region"},
            "deep": {"properties": {"flag": {"x-mcp-header": "Flag"}}},
            "gone": {"x-mcp-header": "Gone"},
        }
    }
    headers = param_headers({"inputSchema": schema}, {"region": 5, "deep": {"flag": True}, "gone": None})
    assert headers == {"Mcp-Param-Region": "5", "Mcp-Param-Flag": "true"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "minLength": 14}, "Hello, worldaa"),
        ({"type": "string", "maxLength": 2}, "He"),
        ({"type": "integer", "minimum": 3}, 3),
        ({"type": "number", "exclusiveMinimum": 1.5}, 2.5),
        ({"enum": ["x", "y"]}, "x"),
        ({"const": None}, None),
        ({"type": ["boolean", "null"]}, False),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [1, 1]),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 1),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, {"a": "sample a"}),
        ("not a schema", None),
    ],
)
def test_value_fits_its_schema(schema: object, value: object) -> None:
    assert value_for(schema) == value


def test_recursive_schema_ends() -> None:
    schema: dict[str, object] = {"type": "object", "required": ["a"]}
    schema["properties"] = {"a": schema}
    assert isinstance(arguments_for({"inputSchema": schema}), dict)


def test_ids_join_area_and_name_and_match_in_any_spelling() -> None:
    def judge_unknown_name() -> None: ...

    judge_unknown_name.__module__ = "assay.lab.suite.tools.arguments"
    assert id_of(judge_unknown_name, "judge_") == "tools.unknown-name"
    assert dashed("auth/basic-dcr") == "auth-basic-dcr"
    assert matches("tools-*", "tools.unknown-name")
    assert matches("ping", "lifecycle.ping", "ping")
    assert not matches("tools", "tools.unknown-name", None)

"""Every annotation of the table: its schema, the values it allows and those it forbids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay import Server
from assay.server.types.validator import Validator
from tests.server.annotations import MISSING, ROWS, Row
from tests.server.scripted import call

SCHEMAS = Path(__file__).with_name("annotations.json")
TITLES = [row.title for row in ROWS]


def server_of(row: Row) -> tuple[Server, dict[str, Any], list[Any]]:
    server, received = Server("test"), []
    server.tools.add(row.function(received))
    return server, dict(server.tools.list()[0].input_schema), received


def arguments(row: Row, value: Any) -> dict[str, Any]:
    return {} if value == MISSING else {row.name: value}


def test_the_table_is_large_and_has_no_row_twice() -> None:
    assert len(ROWS) >= 80
    assert len(set(TITLES)) == len(TITLES)


@pytest.mark.parametrize("row", ROWS, ids=TITLES)
async def test_allowed_values_reach_the_function(row: Row) -> None:
    server, _, received = server_of(row)
    for value in row.good:
        result = await call(server, "take", arguments(row, value))
        assert result == {"content": []}, value
    assert len(received) == len(row.good)


@pytest.mark.parametrize("row", ROWS, ids=TITLES)
async def test_forbidden_values_are_refused_in_one_line_that_names_the_parameter(row: Row) -> None:
    server, _, received = server_of(row)
    for value in row.bad:
        result = await call(server, "take", arguments(row, value))
        assert result.get("isError") is True, value
        text = result["content"][0]["text"]
        assert row.name in text and "\n" not in text and len(text) < 500
    assert received == []


@pytest.mark.parametrize("row", ROWS, ids=TITLES)
def test_schema_is_the_recorded_one(row: Row) -> None:
    _, schema, _ = server_of(row)
    assert schema == json.loads(SCHEMAS.read_text("utf-8"))[row.title]


@pytest.mark.parametrize("row", ROWS, ids=TITLES)
def test_schema_allows_what_is_allowed(row: Row) -> None:
    """So no value that the schema forbids is accepted."""
    validator = Validator(server_of(row)[1])
    for value in row.good:
        assert validator.problem(arguments(row, value)) is None

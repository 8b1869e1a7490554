"""Lists of a hostile server are shown in time that grows with their size."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from assay.cli.output.offer import tool_lines, tool_page
from assay.model.definition import ToolDefinition

NAMES = [f"name{number}" for number in range(20_000)]
WIDE = {"type": "object", "properties": {name: {"type": "string"} for name in NAMES}, "required": NAMES[::-1]}
CIRCLE = {
    "type": "object",
    "properties": {name: {"$ref": "#/$defs/a"} for name in NAMES[:30]},
    "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}] * 16}, "b": {"anyOf": [{"$ref": "#/$defs/a"}] * 16}},
}


@pytest.mark.parametrize(
    "tool",
    [
        {"input_schema": WIDE},
        {"input_schema": CIRCLE},
        {"input_schema": {"$ref": "#"}},
        {"input_schema": {}, "description": "x" * 4_000_000},
        {"input_schema": {}, "description": "word " * 4000},
    ],
    ids=["many arguments", "circle", "itself", "one word", "many words"],
)
def test_a_tool_is_shown_at_once(tool: dict[str, Any]) -> None:
    start = process_time()
    definition = ToolDefinition(name="tool", **tool)
    assert [*tool_lines(definition, 80), *tool_page(definition, 80)]
    assert process_time() - start < 1.5

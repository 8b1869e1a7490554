"""Arguments that fit what a tool or prompt publishes, and some that do not."""

from typing import Any

import pytest

from assay.lab.harness.driver.argument import arguments_for, prompt_arguments, refused_arguments
from assay.lab.harness.trace.json_schema import value_problem

PAINT = {
    "type": "object",
    "properties": {
        "wall": {"type": "string"},
        "colour": {"type": "string", "enum": ["red"]},
        "region": {"type": "string", "x-mcp-header": "Region"},
    },
    "required": ["wall", "region"],
}


def test_refused_arguments_are_refused_one_fault_each() -> None:
    tool = {"name": "paint", "inputSchema": PAINT}
    assert value_problem(arguments_for(tool), PAINT) is None
    refused = list(refused_arguments(tool))
    assert len(refused) == 3
    assert all(value_problem(one, PAINT) is not None for one in refused)
    assert all(one["region"] == "assay" for one in refused), "what has a header of its own is left alone"


@pytest.mark.parametrize("schema", [None, True, {}, {"type": "object"}, {"properties": [1], "required": "x"}])
def test_nothing_is_refused_by_a_schema_that_says_nothing(schema: Any) -> None:
    assert list(refused_arguments({"inputSchema": schema})) == []


def test_arguments_of_prompts_are_texts() -> None:
    arguments = [
        {"name": "code", "required": True},
        {"name": "resourceUri", "required": True},
        {"name": "goal"},
        {"required": True},
        7,
    ]
    made = prompt_arguments({"arguments": arguments})
    assert list(made) == ["code", "resourceUri"]
    assert made["resourceUri"].startswith("https://") and made["code"]
    assert prompt_arguments({"arguments": "code"}) == prompt_arguments({}) == {}

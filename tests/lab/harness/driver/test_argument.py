"""Arguments that fit the definition of a tool or prompt, and some that do not."""

from typing import Any

import pytest

from assay.lab.harness.driver.argument import arguments_for, invalid_arguments, prompt_arguments
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
    refused = list(invalid_arguments(tool))
    assert len(refused) == 3
    assert all(value_problem(arguments, PAINT) is not None for arguments in refused)
    assert all(arguments["region"] == arguments_for(tool)["region"] for arguments in refused), (
        "mirrored arguments are unchanged"
    )


@pytest.mark.parametrize("schema", [None, True, {}, {"type": "object"}, {"properties": [1], "required": "x"}])
def test_schema_without_constraints_refuses_nothing(schema: Any) -> None:
    assert list(invalid_arguments({"inputSchema": schema})) == []


def test_arguments_of_prompts_are_strings() -> None:
    arguments = [
        {"name": "code", "required": True},
        {"name": "resourceUri", "required": True},
        {"name": "goal"},
        {"required": True},
        7,
    ]
    values = prompt_arguments({"arguments": arguments})
    assert list(values) == ["code", "resourceUri"]
    assert values["resourceUri"].startswith("https://") and values["code"]
    assert prompt_arguments({"arguments": "code"}) == prompt_arguments({}) == {}

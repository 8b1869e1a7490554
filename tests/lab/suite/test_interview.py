"""The client that can be asked anything: what it fills in fits, or does not, as it is meant to."""

from typing import Any

import pytest

from assay.lab.harness.trace.json_schema import value_problem
from assay.lab.suite.asking.question import accept, misfit, sample

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 3},
        "colour": {"type": "string", "enum": ["red", "green"]},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}]},
        "age": {"type": "integer", "minimum": 18},
        "score": {"type": "number"},
        "sure": {"type": "boolean"},
        "several": {"type": "array", "items": {"enum": ["a", "b"]}},
    },
    "required": ["name", "several"],
}


def test_accepted_forms_fit_and_misfits_do_not_in_any_field() -> None:
    assert value_problem(accept(FORM)["content"], FORM) is None
    content = misfit(FORM)["content"]
    assert content.keys() == FORM["properties"].keys()
    for name, part in FORM["properties"].items():
        assert value_problem(content[name], part) is not None, name


@pytest.mark.parametrize("schema", [None, 3, {}, {"properties": [1]}, {"properties": {"a": 1}}])
def test_odd_forms_are_answered_with_nothing(schema: Any) -> None:
    assert accept(schema)["content"] == misfit(schema)["content"] == {}


def test_model_uses_a_tool_once() -> None:
    tool = {"name": "look", "inputSchema": {"type": "object", "properties": {}}}
    first = sample({"messages": [], "tools": [tool]})["result"]
    assert first["stopReason"] == "toolUse" and first["content"]["name"] == "look"
    answered = [{"role": "user", "content": {"type": "tool_result", "toolUseId": "use-1"}}]
    assert sample({"messages": answered, "tools": [tool]})["result"]["stopReason"] == "endTurn"


@pytest.mark.parametrize("tools", [[], ["look"], 3, None])
def test_model_without_a_tool_to_use_speaks(tools: Any) -> None:
    assert sample({"messages": [], "tools": tools})["result"]["stopReason"] == "endTurn"

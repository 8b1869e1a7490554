from typing import Any

import pytest

from assay.lab.harness.scripted_client.answer import conversation_problem
from assay.lab.harness.scripted_client.form import form_content
from assay.lab.harness.trace.json_schema import value_problem

USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "one", "input": {}}]}
RESULT = {"type": "tool_result", "toolUseId": "1", "content": []}
TEXT = {"type": "text", "text": "and so on"}


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "user", "content": TEXT}],
        [USE, {"role": "user", "content": [RESULT]}, {"role": "user", "content": TEXT}],
        [USE],
    ],
)
def test_valid_conversation(messages: list[Any]) -> None:
    assert conversation_problem(messages) is None


@pytest.mark.parametrize(
    "messages",
    [
        [USE, {"role": "user", "content": TEXT}],
        [USE, {"role": "user", "content": [RESULT, TEXT]}],
        [USE, {"role": "user", "content": [{**RESULT, "toolUseId": "2"}]}],
    ],
)
def test_conversation_with_missing_or_mixed_results(messages: list[Any]) -> None:
    assert conversation_problem(messages) is not None


FIELDS = {
    "name": {"type": "string", "minLength": 20},
    "mail": {"type": "string", "format": "email"},
    "age": {"type": "integer", "minimum": 18},
    "share": {"type": "number", "maximum": 0.5},
    "sure": {"type": "boolean"},
    "state": {"type": "string", "enum": ["on", "off"]},
    "kind": {"type": "string", "oneOf": [{"const": "a", "title": "A"}]},
    "several": {"type": "array", "minItems": 2, "items": {"type": "string", "enum": ["x", "y", "z"]}},
    "known": {"type": "string", "default": "as it was"},
}


def test_content_of_a_form_matches_its_schema() -> None:
    schema = {"type": "object", "properties": FIELDS, "required": list(FIELDS)}
    content = form_content(schema)
    assert content["known"] == "as it was"
    assert value_problem(content, schema) is None

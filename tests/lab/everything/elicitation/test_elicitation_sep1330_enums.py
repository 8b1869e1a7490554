"""Choices in a form: each way to offer them, and nothing of another way."""

from typing import Any

import pytest

from assay.lab.harness.trace.trace import Trace
from tests.lab.everything.observing import broken, seen
from tests.lab.traces import request, result, stdio_trace

CHECK, NAME = "elicitation-sep1330-enums", "elicitation-sep1330"
TITLED = [{"const": "a", "title": "A"}]
FIELDS: dict[str, Any] = {
    "untitledSingle": {"type": "string", "enum": ["a"]},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {"type": "string", "enum": ["a"], "enumNames": ["A"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["a"]}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}


def shown(fields: dict[str, Any]) -> Trace:
    form = {"type": "object", "properties": fields}
    return stdio_trace(
        (">", request(1, "tools/call", name="test_elicitation_sep1330_enums")),
        ("<", request("q", "elicitation/create", message="?", requestedSchema=form)),
        (">", result("q", action="decline")),
        ("<", result(1, content=[])),
    )


def test_every_way_to_offer_choices_is_well() -> None:
    assert broken(CHECK, shown(FIELDS)) == set()


@pytest.mark.parametrize(
    ("field", "part", "row"),
    [
        ("untitledSingle", {"type": "string", "enum": []}, "untitled-single"),
        ("untitledSingle", {"type": "string", "enum": ["a"], "enumNames": ["A"]}, "untitled-single"),
        ("titledSingle", {"type": "string", "oneOf": [{"const": "a"}]}, "titled-single"),
        ("titledSingle", {"type": "string", "oneOf": TITLED, "enum": ["a"]}, "titled-single"),
        ("legacyEnum", {"type": "string", "enum": ["a"], "enumNames": []}, "legacy-enumnames"),
        ("legacyEnum", {"type": "string", "enum": ["a", "b"], "enumNames": ["A"]}, "legacy-enumnames"),
        ("untitledMulti", {"type": "array", "items": {"enum": ["a"]}}, "untitled-multi"),
        ("untitledMulti", {"type": "string", "enum": ["a"]}, "untitled-multi"),
        ("titledMulti", {"type": "array", "items": {"anyOf": TITLED, "enum": ["a"]}}, "titled-multi"),
        ("titledMulti", None, "titled-multi"),
    ],
)
def test_choice_that_is_offered_otherwise_is_found(field: str, part: Any, row: str) -> None:
    assert broken(CHECK, shown({**FIELDS, field: part})) == {f"{NAME}-{row}"}


def test_tool_that_shows_no_form_is_found_once() -> None:
    trace = stdio_trace(
        (">", request(1, "tools/call", name="test_elicitation_sep1330_enums")), ("<", result(1, content=[]))
    )
    assert seen(CHECK, trace) == [(f"{NAME}-general", False)]

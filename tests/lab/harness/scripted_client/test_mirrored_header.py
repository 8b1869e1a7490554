from typing import Any

import pytest

from assay.lab.harness.scripted_client.mirrored_header import MARK, marking_problem


def tool(**properties: Any) -> dict[str, Any]:
    return {"name": "one", "inputSchema": {"type": "object", "properties": properties}}


def marked(name: Any, kind: str = "string") -> dict[str, Any]:
    return {"type": kind, MARK: name}


@pytest.mark.parametrize(
    "good",
    [
        tool(),
        tool(region=marked("Region"), count=marked("Count", "integer"), loud=marked("Loud", "boolean")),
        tool(inner={"type": "object", "properties": {"region": marked("Region")}}),
        tool(**{MARK: {"type": "string"}}),
    ],
)
def test_valid_marks(good: dict[str, Any]) -> None:
    assert marking_problem(good) is None


@pytest.mark.parametrize(
    "bad",
    [
        tool(region=marked("")),
        tool(region=marked("My Region")),
        tool(region=marked("Region\r\nOdd")),
        tool(region=marked(7)),
        tool(score=marked("Score", "number")),
        tool(data=marked("Data", "object")),
        tool(one=marked("Same"), two=marked("same")),
        tool(many={"type": "array", "items": marked("Item")}),
        tool(either={"anyOf": [marked("Either")]}),
    ],
)
def test_invalid_marks(bad: dict[str, Any]) -> None:
    assert marking_problem(bad) is not None

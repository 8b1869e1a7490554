"""Definitions that changed since a bundle was made."""

from collections.abc import Iterator
from typing import Any

import pytest

from assay.certify.verification.live_definitions import definition_changes
from assay.certify.verification.refusal import RefusalReason

TOOL = {"name": "read", "description": "Reads", "inputSchema": {"type": "object"}, "_meta": {"x": 1}}


def changes(today: list[dict[str, Any]]) -> Iterator[str]:
    for refusal in definition_changes("tools", "name", [TOOL], today):
        assert refusal.reason == RefusalReason.CHANGED_DEFINITION
        yield refusal.detail


@pytest.mark.parametrize(
    ("today", "expected"),
    [
        ([TOOL], []),
        ([{**TOOL, "_meta": {"x": 2}, "size": 3}], []),
        ([{**TOOL, "annotations": {"lastModified": "2030-01-01T00:00:00Z"}}], []),
        ([], ["the tool read was removed"]),
        ([TOOL, {"name": "send"}], ["the tool send was added"]),
        ([{**TOOL, "description": "Sends"}], ["the description of the tool read was 'Reads', now 'Sends'"]),
        ([{**TOOL, "inputSchema": {}}], ["the inputSchema of the tool read changed"]),
        ([{**TOOL, "annotations": {"readOnlyHint": True}}], ["the annotations of the tool read changed"]),
    ],
)
def test_every_change_is_named(today: list[dict[str, Any]], expected: list[str]) -> None:
    assert [*changes(today)] == expected

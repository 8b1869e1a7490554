"""Content blocks are validated, and match the official types on the wire."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from mcp_types import ContentBlock
from pydantic import TypeAdapter

from assay import Annotations, Audio, Contents, EmbeddedResource, Image, ResourceLink, Text

official = TypeAdapter(ContentBlock).validate_json


@pytest.mark.parametrize("audience", [None, [], ["user"], ["assistant"], ["user", "assistant"]])
def test_audience_names_the_two_roles(audience: Any) -> None:
    assert Annotations(audience=audience).audience == audience


@pytest.mark.parametrize("role", ["system", "User", "", 1, None])
def test_audience_of_anybody_else_is_refused(role: Any) -> None:
    with pytest.raises(ValueError, match="audience"):
        Annotations(audience=["user", role])


@pytest.mark.parametrize("priority", [None, 0, 0.0, 0.5, 1, 1.0])
def test_priority_lies_between_zero_and_one(priority: float | None) -> None:
    assert Annotations(priority=priority).priority == priority


@pytest.mark.parametrize("priority", [-0.01, 1.01, 100, math.inf, -math.inf, math.nan])
def test_priority_beyond_its_range_is_refused(priority: float) -> None:
    with pytest.raises(ValueError, match="priority"):
        Annotations(priority=priority)


@pytest.mark.parametrize(
    "time",
    [
        "2025-01-12T15:00:58Z",
        "2025-01-12T15:00:58+02:00",
        "2025-01-12T15:00:58.123456Z",
        "2025-01-12T15:00",
        "2025-01-12",
        "20250112T150058Z",
    ],
)
def test_last_modified_is_an_iso_8601_time(time: str) -> None:
    assert Annotations(last_modified=time).last_modified == time


@pytest.mark.parametrize(
    "time", ["", "yesterday", "12.01.2025", "2025-13-01", "2025-01-12T25:00:00Z", "1736694058"]
)
def test_last_modified_of_another_form_is_refused(time: str) -> None:
    with pytest.raises(ValueError, match="last_modified"):
        Annotations(last_modified=time)


def test_annotations_that_are_decoded_are_checked_too() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"priority":2}', type=Annotations)


@pytest.mark.parametrize("held", [{"text": "a"}, {"text": ""}, {"blob": b"a"}, {"blob": b""}])
def test_contents_hold_text_or_blob(held: dict[str, Any]) -> None:
    contents = Contents("a:b", **held)
    assert {name: getattr(contents, name) for name in held} == held


@pytest.mark.parametrize("held", [{}, {"text": "a", "blob": b"a"}, {"text": "", "blob": b""}])
def test_contents_of_both_or_neither_are_refused(held: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a:b"):
        Contents("a:b", **held)


@pytest.mark.parametrize(
    ("block", "wire"),
    [
        (Text("hi"), {"type": "text", "text": "hi"}),
        (Image(b"\x00\xff", "image/png"), {"type": "image", "data": "AP8=", "mimeType": "image/png"}),
        (Audio(b"\x00\xff", "audio/wav"), {"type": "audio", "data": "AP8=", "mimeType": "audio/wav"}),
        (ResourceLink("a:b", "b"), {"type": "resource_link", "uri": "a:b", "name": "b"}),
        (
            EmbeddedResource(Contents("a:b", blob=b"\xff", mime_type="image/png")),
            {"type": "resource", "resource": {"uri": "a:b", "blob": "/w==", "mimeType": "image/png"}},
        ),
        (
            Text("hi", Annotations(audience=["user"], last_modified="2025-01-12"), {"com.example/a": 1}),
            {
                "type": "text",
                "text": "hi",
                "annotations": {"audience": ["user"], "lastModified": "2025-01-12"},
                "_meta": {"com.example/a": 1},
            },
        ),
    ],
)
def test_block_reads_on_the_wire_as_the_official_types_do(block: Any, wire: dict[str, Any]) -> None:
    encoded = msgspec.json.encode(block)
    assert msgspec.json.decode(encoded) == wire
    assert official(encoded).model_dump(mode="json", by_alias=True, exclude_none=True) == wire

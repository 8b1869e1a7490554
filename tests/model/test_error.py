"""Exceptions: their text and fields."""

from __future__ import annotations

from typing import Any

import pytest

from assay import AskError, AssayError, RegistrationError, ResourceNotFound, RpcError, ToolError
from assay.model.error import INVALID_REQUEST, RESOURCE_NOT_FOUND, MalformedMessage, Undeclared


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (RpcError(-32602, "unknown tool: x"), "unknown tool: x (-32602)"),
        (
            MalformedMessage(INVALID_REQUEST, "params must be an object", 7),
            "params must be an object (-32600)",
        ),
        (ResourceNotFound("a:b"), "resource not found: a:b (-32002)"),
        (ToolError("no such city"), "no such city"),
        (AskError("the client is gone"), "the client is gone"),
        (Undeclared(-32021, "no sampling", {}), "no sampling"),
        (RegistrationError("tool x: bad"), "tool x: bad"),
    ],
)
def test_error_says(error: AssayError, text: str) -> None:
    assert str(error) == text


@pytest.mark.parametrize(
    ("error", "fields"),
    [
        (RpcError(1, "a"), {"code": 1, "message": "a", "data": None}),
        (RpcError(1, "a", {"b": 2}), {"code": 1, "message": "a", "data": {"b": 2}}),
        (MalformedMessage(1, "a", "id"), {"code": 1, "message": "a", "data": None, "request_id": "id"}),
        (ResourceNotFound("a:b"), {"code": RESOURCE_NOT_FOUND, "data": {"uri": "a:b"}, "uri": "a:b"}),
    ],
)
def test_error_carries(error: RpcError, fields: dict[str, Any]) -> None:
    assert {name: getattr(error, name) for name in fields} == fields


@pytest.mark.parametrize("kind", [RpcError, ToolError, AskError, RegistrationError])
def test_everything_raised_on_purpose_has_one_base(kind: type[Exception]) -> None:
    assert issubclass(kind, AssayError)

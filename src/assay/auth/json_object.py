"""Untrusted JSON of which only an object is acceptable."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec


def read_object(data: bytes) -> dict[str, Any] | None:
    """The object; `None` for any other value, invalid JSON or excessive nesting."""
    try:
        value = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_only(value: Any) -> Any:
    """A deeply read-only view of a JSON value.

    Raises:
        RecursionError: The value is nested too deeply.
    """
    if isinstance(value, Mapping):
        return MappingProxyType({name: read_only(item) for name, item in value.items()})
    return tuple(map(read_only, value)) if isinstance(value, list) else value

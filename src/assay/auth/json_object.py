"""JSON that came from outside, where only an object makes sense."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec


def read_object(data: bytes) -> dict[str, Any] | None:
    """The object; none for whatever is none, be it nested without end."""
    try:
        found = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def read_only(value: Any) -> Any:
    """The same JSON value, in which nobody can change anything.

    Raises:
        RecursionError: it is nested without end.
    """
    if isinstance(value, Mapping):
        return MappingProxyType({name: read_only(item) for name, item in value.items()})
    return tuple(map(read_only, value)) if isinstance(value, list) else value

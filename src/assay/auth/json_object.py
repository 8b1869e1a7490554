"""JSON that came from outside, where only an object makes sense."""

from __future__ import annotations

from typing import Any

import msgspec


def read_object(data: bytes) -> dict[str, Any] | None:
    """The object; none for whatever is none, be it nested without end."""
    try:
        found = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None

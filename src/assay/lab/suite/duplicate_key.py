"""Keys that an object has twice, which only the text of a message shows."""

from __future__ import annotations

import contextlib
import json
from typing import Any


def keys_twice(body: bytes, name: str) -> list[str]:
    """The keys that are there twice in the objects under that name, anywhere in the text."""
    found: list[str] = []

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        for key, value in members:
            if key == name and isinstance(value, _Pairs):
                found.extend(value.twice)
        return _Pairs(members)

    with contextlib.suppress(ValueError, RecursionError):  # what is no JSON is another check's affair
        json.loads(body, object_pairs_hook=pairs)
    return found


class _Pairs(dict[str, Any]):
    def __init__(self, members: list[tuple[str, Any]]) -> None:
        super().__init__(members)
        names = [name for name, _ in members]
        self.twice = sorted({name for name in names if names.count(name) > 1})

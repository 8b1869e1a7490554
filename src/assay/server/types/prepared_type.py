"""A type, and which library reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .pydantic_adapter import PydanticAdapter

SIMPLE: Final = (Any, str, int, float, bool, bytes, None, type(None))
"""Types that need no look inside."""


@dataclass(frozen=True, slots=True)
class Prepared:
    annotation: Any
    """The type for msgspec."""
    described: Any
    """The type for the schema."""
    by_pydantic: PydanticAdapter | None = None
    has_times: bool = False
    """Whether it contains a `datetime` or `time`, which msgspec reads in fewer forms than pydantic."""
    is_hashed: bool = False
    """Whether it contains a set or a dict of possible numbers, whose hashes a client can choose."""
    is_structure: bool = False
    """Whether a string that holds it is JSON text: it is an array or object, and cannot be a string."""


def is_simple(annotation: Any) -> bool:
    return any(annotation is simple for simple in SIMPLE)

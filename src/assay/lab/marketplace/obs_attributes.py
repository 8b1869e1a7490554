"""What an attribute of a span should be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Wanted(Struct, frozen=True):
    """This text; else one that has one of these words in it; else any that is not empty."""

    text: str | None = None
    within: tuple[str, ...] = ()

    def fits(self, value: Any) -> bool:
        if not isinstance(value, str) or not value:
            return False
        if self.text is not None:
            return value == self.text
        return not self.within or any(word in value for word in self.within)

    def __str__(self) -> str:
        return self.text or " or ".join(self.within) or "something"


def complaints(wanted: Mapping[str, Wanted], found: Mapping[str, Any]) -> list[str]:
    """The attributes that are not as they should be, as they are."""
    return [
        f"{name}={found[name]!r}" if name in found else f"no {name}"
        for name, one in wanted.items()
        if not one.fits(found.get(name))
    ]

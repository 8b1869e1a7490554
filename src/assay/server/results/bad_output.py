"""Return values that do not fit their declaration, in one line for their author."""

from __future__ import annotations

import re
from reprlib import Repr
from typing import Any, Final

from assay.model.visible import visible

LONGEST: Final = 200
_PATHS: Final = re.compile(r"\b(?:[^\W\d]\w*\.)+(?=[^\W\d])")
"""The modules in front of the names of classes."""
_short: Final = Repr()
_short.maxstring = _short.maxother = 80
_short.maxlist = _short.maxtuple = _short.maxdict = _short.maxset = 5


class BadOutput(TypeError):
    """A handler returned a value that does not fit its declaration.

    Args:
        value: What it returned.
        expected: What it declares, as text.
        detail: Where the two differ, if not in their types.
    """

    def __init__(self, value: Any, expected: str, detail: str = "") -> None:
        self.value_type = type(value).__qualname__
        self.expected = expected
        suffix = f" ({_bounded(detail)})" if detail else ""
        super().__init__(
            f"returned {_bounded(self.value_type)}, expected {_bounded(expected)}: {preview(value)}{suffix}"
        )

    def named(self, owner: str) -> BadOutput:
        """The same, with the handler that returned the value."""
        self.args = (f"{owner} {self}",)
        return self


def preview(value: Any) -> str:
    """The beginning of a value in one line, in which nothing acts."""
    return _bounded(_short.repr(value))


def type_name(annotation: Any) -> str:
    """A type as its author writes it: `list[Offer]`, not `list[shop.Offer]`."""
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        return annotation.__qualname__
    return _PATHS.sub("", str(annotation))


def _bounded(text: str) -> str:
    text = visible(text[: LONGEST + 1])
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"

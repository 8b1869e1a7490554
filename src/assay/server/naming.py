"""Names between Python and the wire."""

from __future__ import annotations

import functools


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def handler_name(function: object) -> str:
    """A function's own name; the class name for objects that are called."""
    if isinstance(function, functools.partial):
        return handler_name(function.func)
    name: str = getattr(function, "__name__", "") or type(function).__name__
    return name

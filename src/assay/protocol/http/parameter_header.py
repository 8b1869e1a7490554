"""Arguments of a tool that its client repeats in headers (`x-mcp-header`), read from the tool's schema.

A tool whose annotations break the rules must not be used over HTTP (basic/transports/streamable-http).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

KEYWORD: Final = "x-mcp-header"
KINDS: Final = frozenset({"string", "integer", "boolean"})
TOKEN: Final = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""Characters of a header name (RFC 9110, section 5.6.2)."""
VALUES: Final = frozenset({"default", "const", "enum", "examples"})
"""Keywords of a schema that hold values, not schemas."""
DEPTH: Final = 64


class InvalidHeader(ValueError):
    """An annotation breaks the rules; the message says which."""


class HeaderParameter(Struct, frozen=True):
    path: tuple[str, ...]
    header: str

    def value_in(self, arguments: Any) -> Any:
        """The argument to repeat; None if it is absent."""
        for name in self.path:
            arguments = arguments.get(name) if isinstance(arguments, dict) else None
        return arguments


def header_parameters(schema: Any) -> tuple[HeaderParameter, ...]:
    """
    Raises:
        InvalidHeader: an annotation breaks the rules.
    """
    parameters = tuple(_read(schema, (), depth=0, reachable=True))
    for name, count in Counter(parameter.header.lower() for parameter in parameters).items():
        if count > 1:
            raise InvalidHeader(f"{count} parameters are repeated in one header: {name}")
    return parameters


def _read(schema: Any, path: tuple[str, ...], *, depth: int, reachable: bool) -> Iterator[HeaderParameter]:
    if not isinstance(schema, dict) or depth > DEPTH:
        return
    if KEYWORD in schema:
        if not reachable or not path:
            raise InvalidHeader(f"{KEYWORD} is only allowed on parameters reached through `properties`")
        yield _parameter(schema, path)
    for keyword, inner in schema.items():
        if keyword == "properties" and isinstance(inner, dict):
            for name, part in inner.items():
                yield from _read(part, (*path, name), depth=depth + 1, reachable=reachable)
        elif keyword not in VALUES:
            for part in inner if isinstance(inner, list) else (inner,):
                yield from _read(part, (*path, keyword), depth=depth + 1, reachable=False)


def _parameter(schema: dict[str, Any], path: tuple[str, ...]) -> HeaderParameter:
    header, kind = schema[KEYWORD], schema.get("type")
    where = f"parameter {'.'.join(path)}: {KEYWORD}"
    if not isinstance(header, str) or not header or not TOKEN.issuperset(header):
        raise InvalidHeader(f"{where} must be a token, as header names are: {header!r}")
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidHeader(f"{where} is for strings, integers and booleans: {kind}")
    return HeaderParameter(path, f"Mcp-Param-{header}")

"""Tool parameters that are repeated in HTTP headers (`x-mcp-header`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from assay.model.error import HEADER_MISMATCH, RegistrationError, RpcError
from assay.protocol.http.mirror import read_value

KEYWORD: Final = "x-mcp-header"
VALUES: Final = frozenset({"default", "const", "enum", "examples"})
"""Keywords of a schema that hold values, not schemas."""
TOKEN: Final = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""Characters of a header name (RFC 9110, section 5.6.2)."""


class Header(Struct, frozen=True):
    """Marks a tool parameter whose value clients also send in the HTTP header `Mcp-Param-<name>`.

        @server.tool
        async def deploy(region: Annotated[str, Header("Region")]) -> str: ...

    A proxy can then route the request without reading its body. The server refuses a request whose header
    differs from the argument. Clients of older protocol revisions do not send it.
    """

    name: str


class MirroredParameter(Struct, frozen=True):
    path: tuple[str, ...]
    header: str
    kind: str

    def check(self, arguments: dict[str, Any], headers: Mapping[str, bytes]) -> None:
        """
        Raises:
            RpcError: the header is missing, differs from the argument, or has no argument.
        """
        value: Any = arguments
        for name in self.path:
            value = value.get(name) if isinstance(value, dict) else None
        raw = headers.get(self.header.lower())
        if value is None:
            if raw is not None:
                raise RpcError(HEADER_MISMATCH, f"header without a parameter: {self.header}")
            return
        if raw is None:
            raise RpcError(HEADER_MISMATCH, f"header missing: {self.header}")
        if not _same(value, read_value(raw)):
            raise RpcError(HEADER_MISMATCH, f"header differs from the body: {self.header}")


def _same(value: Any, text: str) -> bool:
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, int | float):
        try:
            return bool(msgspec.json.decode(text) == value)  # JSON syntax: `42.0` equals 42, `4_2` is invalid
        except msgspec.DecodeError:
            return False
    return bool(value == text)


def mirrored_parameters(schema: Mapping[str, Any], tool: str) -> tuple[MirroredParameter, ...]:
    """
    Raises:
        RegistrationError: an annotation for which clients would reject the tool.
    """
    if KEYWORD in schema or _is_misplaced(schema, on_path=True):
        raise RegistrationError(
            f"tool {tool}: {KEYWORD} is only allowed on parameters reached through `properties`"
        )
    parameters = tuple(_find(schema, (), tool))
    names = [parameter.header.lower() for parameter in parameters]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise RegistrationError(f"tool {tool}: two parameters are repeated in one header: {doubled}")
    return parameters


def _is_misplaced(schema: Mapping[str, Any], *, on_path: bool) -> bool:
    for keyword, inner in _subschemas(schema):
        reached = on_path and keyword == "properties"
        if (KEYWORD in inner and not reached) or _is_misplaced(inner, on_path=reached):
            return True
    return False


def _subschemas(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for keyword, inner in schema.items():
        if keyword == "properties" and isinstance(inner, Mapping):
            below: Iterable[Any] = inner.values()
        else:
            below = inner if isinstance(inner, list) else [inner]
        if keyword not in VALUES:
            yield from ((keyword, part) for part in below if isinstance(part, Mapping))


def _find(schema: Mapping[str, Any], path: tuple[str, ...], tool: str) -> Iterator[MirroredParameter]:
    for name, field in schema.get("properties", {}).items():
        if not isinstance(field, Mapping):
            continue
        if KEYWORD in field:
            yield _read(field, (*path, name), tool)
        yield from _find(field, (*path, name), tool)


def _read(field: Mapping[str, Any], path: tuple[str, ...], tool: str) -> MirroredParameter:
    header, kind = field[KEYWORD], field.get("type")
    where = f"tool {tool}, parameter {'.'.join(path)}"
    if not isinstance(header, str) or not header or not TOKEN.issuperset(header):
        raise RegistrationError(f"{where}: {KEYWORD} must be a token, as header names are: {header!r}")
    if kind not in ("string", "integer", "boolean"):
        raise RegistrationError(f"{where}: {KEYWORD} is for strings, integers and booleans: {kind}")
    return MirroredParameter(path, f"Mcp-Param-{header}", kind)


def check_headers(parameters: tuple[MirroredParameter, ...], raw: Raw, pairs: Any) -> None:
    """Compare the arguments of a call with their headers.

    Raises:
        RpcError: a header is missing, differs or comes twice.
    """
    headers: dict[str, bytes] = {}
    repeated = {parameter.header.lower() for parameter in parameters}
    for header, value in pairs:
        name = header.decode("latin-1").lower()
        if name in headers and name in repeated:
            raise RpcError(HEADER_MISMATCH, f"header given twice: {name}")
        headers[name] = value
    try:
        arguments = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return  # decoding them for the tool reports the error
    for parameter in parameters:
        parameter.check(arguments if isinstance(arguments, dict) else {}, headers)

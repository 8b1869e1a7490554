"""Tool parameters that are repeated in HTTP headers (`x-mcp-header`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw, Struct

from assay.model.error import HEADER_MISMATCH, RegistrationError, RpcError
from assay.protocol.http.mirror import read_value
from assay.protocol.http.parameter_header import HeaderParameter, InvalidHeader, header_parameters


class Header(Struct, frozen=True):
    """Marks a tool parameter whose value clients also send in the HTTP header `Mcp-Param-<name>`.

        @server.tool
        async def deploy(region: Annotated[str, Header("Region")]) -> str: ...

    A proxy can then route the request without reading its body. The server refuses a request whose header
    differs from the argument. Clients of older protocol revisions do not send it.
    """

    name: str


def check_header(parameter: HeaderParameter, arguments: Any, headers: Mapping[str, bytes]) -> None:
    """
    Raises:
        RpcError: the header is missing, differs from the argument, or has no argument.
    """
    value = parameter.value_in(arguments)
    raw = headers.get(parameter.header.lower())
    if value is None:
        if raw is not None:
            raise RpcError(HEADER_MISMATCH, f"header without a parameter: {parameter.header}")
        return
    if raw is None:
        raise RpcError(HEADER_MISMATCH, f"header missing: {parameter.header}")
    if not _same(value, read_value(raw)):
        raise RpcError(HEADER_MISMATCH, f"header differs from the body: {parameter.header}")


def _same(value: Any, text: str) -> bool:
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, int | float):
        try:
            return bool(msgspec.json.decode(text) == value)  # JSON syntax: `42.0` equals 42, `4_2` is invalid
        except msgspec.DecodeError:
            return False
    return bool(value == text)


def mirrored_parameters(schema: Mapping[str, Any], tool: str) -> tuple[HeaderParameter, ...]:
    """
    Raises:
        RegistrationError: an annotation for which clients would reject the tool.
    """
    try:
        return header_parameters(schema)
    except InvalidHeader as error:
        raise RegistrationError(f"tool {tool}: {error}") from None


def check_headers(parameters: tuple[HeaderParameter, ...], raw: Raw, pairs: Any) -> None:
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
        check_header(parameter, arguments, headers)

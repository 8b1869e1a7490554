"""Requests and responses as values, and the parameters of OAuth in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from .refusal import Refused

FORM: Final = "application/x-www-form-urlencoded"
NOT_STORED: Final = (("cache-control", "no-store"), ("pragma", "no-cache"))


class Request(Struct, frozen=True, kw_only=True):
    method: str
    path: str
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    """Names in lower case."""
    body: bytes = b""
    peer: str | None = None
    """The address of whoever sent it, where the server tells."""

    def every(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    def header(self, name: str) -> str | None:
        """
        Raises:
            Refused: there are several of them.
        """
        found = self.every(name)
        if len(found) > 1:
            raise Refused("invalid_request", f"the header {name} came {len(found)} times")
        return found[0] if found else None

    @property
    def media_type(self) -> str:
        return (self.header("content-type") or "").partition(";")[0].strip().lower()


class Response(Struct, frozen=True, kw_only=True):
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class Form:
    """Parameters by name. One without a value counts as left out (RFC 6749, 3.1)."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = [(name, value) for name, value in pairs if value]

    def every(self, name: str) -> tuple[str, ...]:
        return tuple(value for key, value in self._pairs if key == name)

    def one(self, name: str) -> str | None:
        """
        Raises:
            Refused: the parameter came more than once.
        """
        found = self.every(name)
        if len(found) > 1:
            raise Refused("invalid_request", f"the parameter {name} came {len(found)} times")
        return found[0] if found else None

    def need(self, name: str) -> str:
        value = self.one(name)
        if value is None:
            raise Refused("invalid_request", f"the parameter {name} is missing")
        return value


def read_parameters(text: str | bytes, bound: int) -> Form:
    """
    Raises:
        Refused: this is no list of parameters, or too long a one.
    """
    try:
        decoded = text if isinstance(text, str) else text.decode()
        return Form(parse_qsl(decoded, keep_blank_values=True, errors="strict", max_num_fields=bound))
    except ValueError:
        raise Refused("invalid_request", f"not a list of at most {bound} parameters in UTF-8") from None


def read_form(request: Request, bound: int) -> Form:
    if request.media_type != FORM:
        raise Refused("invalid_request", f"send the parameters as {FORM}")
    return read_parameters(request.body, bound)


def json_response(
    document: Any, *, status: int = 200, headers: tuple[tuple[str, str], ...] = NOT_STORED
) -> Response:
    body = msgspec.json.encode(document)
    return Response(status=status, headers=(("content-type", "application/json"), *headers), body=body)


def refusal_response(refused: Refused) -> Response:
    document = {"error": refused.error, "error_description": refused.description}
    return json_response(document, status=refused.status, headers=(*NOT_STORED, *refused.headers.items()))


def redirect_response(url: str) -> Response:
    """303: whatever came, what follows is a GET, without the body that may hold a person's answer."""
    headers = (("location", url), ("referrer-policy", "no-referrer"), *NOT_STORED)
    return Response(status=303, headers=headers)


def only_mapping(value: object) -> Mapping[str, Any]:
    """
    Raises:
        ValueError: this is no JSON object.
    """
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value

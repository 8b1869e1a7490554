"""Requests and responses as values, and OAuth parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from .error import OAuthError

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
    """The sender's IP address, if the server provides it."""

    def every(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    def header(self, name: str) -> str | None:
        """
        Raises:
            OAuthError: The header was sent more than once.
        """
        values = self.every(name)
        if len(values) > 1:
            raise OAuthError("invalid_request", f"the header {name} was sent {len(values)} times")
        return values[0] if values else None

    @property
    def media_type(self) -> str:
        return (self.header("content-type") or "").partition(";")[0].strip().lower()


class Response(Struct, frozen=True, kw_only=True):
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class Form:
    """Parameters by name. One without a value counts as omitted (RFC 6749, 3.1)."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = [(name, value) for name, value in pairs if value]

    def every(self, name: str) -> tuple[str, ...]:
        return tuple(value for key, value in self._pairs if key == name)

    def get(self, name: str) -> str | None:
        """
        Raises:
            OAuthError: The parameter was sent more than once (RFC 6749, 3.1).
        """
        values = self.every(name)
        if len(values) > 1:
            raise OAuthError("invalid_request", f"the parameter {name} was sent {len(values)} times")
        return values[0] if values else None

    def require(self, name: str) -> str:
        value = self.get(name)
        if value is None:
            raise OAuthError("invalid_request", f"the parameter {name} is missing")
        return value


def read_parameters(text: str | bytes, bound: int) -> Form:
    """
    Raises:
        OAuthError: The text is not a list of parameters, or has too many.
    """
    try:
        decoded = text if isinstance(text, str) else text.decode()
        return Form(parse_qsl(decoded, keep_blank_values=True, errors="strict", max_num_fields=bound))
    except ValueError:
        raise OAuthError("invalid_request", f"not a list of at most {bound} parameters in UTF-8") from None


def read_form(request: Request, bound: int) -> Form:
    if request.media_type != FORM:
        raise OAuthError("invalid_request", f"send the parameters as {FORM}")
    return read_parameters(request.body, bound)


def json_response(
    document: Any, *, status: int = 200, headers: tuple[tuple[str, str], ...] = NOT_STORED
) -> Response:
    body = msgspec.json.encode(document)
    return Response(status=status, headers=(("content-type", "application/json"), *headers), body=body)


def error_response(error: OAuthError) -> Response:
    document = {"error": error.error, "error_description": error.description}
    return json_response(document, status=error.status, headers=(*NOT_STORED, *error.headers.items()))


def redirect_response(url: str) -> Response:
    """Redirect with 303: a 307 would resend the person's form to the client (RFC 9700, 4.12)."""
    headers = (("location", url), ("referrer-policy", "no-referrer"), *NOT_STORED)
    return Response(status=303, headers=headers)


def only_mapping(value: object) -> Mapping[str, Any]:
    """
    Raises:
        ValueError: The value is not a JSON object.
    """
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value

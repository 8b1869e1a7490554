"""JSON documents: metadata of servers, and answers of their endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

from assay.model.client_error import AuthorizationFailed

from .effect import Flow, HttpRequest, HttpResponse

S = TypeVar("S", bound=msgspec.Struct)
ACCEPT: Final = {"Accept": "application/json"}
ERROR_CHARACTERS: Final = 200


def fetch(url: str, version: str | None) -> Flow[dict[str, Any] | None]:
    """The JSON object at a URL; None if the server has none there.

    Raises:
        AuthorizationFailed: the server is out of order.
    """
    # Asked for by the first revision with authorization, in which servers may answer by version.
    headers = ACCEPT if version is None else {**ACCEPT, "MCP-Protocol-Version": version}
    response: HttpResponse = yield HttpRequest("GET", url, headers)
    if response.status >= 500:
        raise refusal(response, f"reading {url}", "try again later")
    return read_object(response.body) if response.status == 200 else None


def read_object(body: bytes) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def convert(document: Mapping[str, Any], expected: type[S], source: str) -> S:
    """
    Raises:
        AuthorizationFailed: the document does not have this form.
    """
    present = {name: value for name, value in document.items() if value is not None}
    try:
        return msgspec.convert(present, expected)
    except msgspec.ValidationError as error:
        raise AuthorizationFailed(f"{source} is invalid: {error}") from None


def refusal(response: HttpResponse, action: str, advice: str = "") -> AuthorizationFailed:
    """The error for a failed response, with what the server says in it."""
    document = read_object(response.body) or {}
    code = document.get("error")
    known = code[:ERROR_CHARACTERS] if isinstance(code, str) else None
    description = document.get("error_description")
    details = f": {known}" if known else ""
    if isinstance(description, str) and known:
        details += f" ({description[:ERROR_CHARACTERS]})"
    advice = f"; {advice}" if advice else ""
    return AuthorizationFailed(f"{action} failed with status {response.status}{details}{advice}", known)

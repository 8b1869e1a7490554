"""For saboteurs: requests of the client on its way to a token, with one thing changed."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
import msgspec

from assay.lab.harness import Request
from assay.lab.harness.scripted_client.client import ScriptedClient

from .credential import read_jwt

AUTHORIZE, TOKEN, REGISTER, ENDPOINT = "/authorize", "/token", "/register", "/mcp"
_JSON: Final = "application/json"


def goes_to(request: Request, place: str) -> bool:
    return urlsplit(request.target).path.endswith(place)


def altered(request: Request, place: str, **changes: Any) -> Request:
    """A request to that place with other parameters; none takes one out. Others are left alone."""
    if not goes_to(request, place):
        return request
    if request.method == "GET":
        path, _, query = request.target.partition("?")
        request.target = f"{path}?{_form(query, changes)}"
    elif (request.header("content-type") or "").startswith(_JSON):
        request.body = msgspec.json.encode(_changed(msgspec.json.decode(request.body), changes))
    else:
        request.body = _form(request.body.decode(), changes).encode()
    return request


def resigned(request: Request, client: ScriptedClient, **claims: Any) -> Request:
    """A token request with other claims in the assertion by which the client authenticates."""
    if not goes_to(request, TOKEN):
        return request
    honest = read_jwt(parameters(request)["client_assertion"]).claims
    context = client.context
    signed = jwt.encode({**honest, **claims}, context["private_key_pem"], context["signing_algorithm"])
    return altered(request, TOKEN, client_assertion=signed)


def parameters(request: Request) -> dict[str, str]:
    """Of a query or a form."""
    given = request.target.partition("?")[2] if request.method == "GET" else request.body.decode()
    return dict(parse_qsl(given))


def _form(text: str, changes: dict[str, Any]) -> str:
    return urlencode(_changed(dict(parse_qsl(text)), changes))


def _changed(given: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**given, **changes}.items() if value is not None}

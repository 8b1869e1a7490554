"""Building blocks of saboteurs: HTTP requests of the authorization flow with one part changed."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
import msgspec

from assay.lab.harness import Request
from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur, behaviour, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient

from .flow import read_jwt

AUTHORIZE, TOKEN, REGISTER, ENDPOINT = "/authorize", "/token", "/register", "/mcp"
DEFAULT: Final = "auth/metadata-default"
"""The scenario that shows most faults."""
_JSON: Final = "application/json"


def is_to(request: Request, path: str) -> bool:
    return urlsplit(request.target).path.endswith(path)


def altered(request: Request, path: str, **changes: Any) -> Request:
    """A request to this path with other parameters, where `None` removes one; any other request unchanged."""
    if not is_to(request, path):
        return request
    if request.method == "GET":
        target, _, query = request.target.partition("?")
        request.target = f"{target}?{_form(query, changes)}"
    elif (request.header("content-type") or "").startswith(_JSON):
        request.body = msgspec.json.encode(_changed(msgspec.json.decode(request.body), changes))
    else:
        request.body = _form(request.body.decode(), changes).encode()
    return request


def alters(path: str, scenario: str, name: str, fault: str, breaks: str, **changes: Any) -> ClientSaboteur:
    """A client that sends other parameters to this path; `None` leaves one out."""
    return on_request(fault, breaks=breaks, scenario=scenario, id=f"auth.{name}")(
        lambda request, client: altered(request, path, **changes)
    )


def behaves(scenario: str, name: str, fault: str, breaks: str, **fields: Any) -> ClientSaboteur:
    """A client with other fields of `ClientBehaviour`."""
    return behaviour(f"auth.{name}", fault, breaks=breaks, scenario=scenario, **fields)


def with_claims(request: Request, client: ScriptedClient, **claims: Any) -> Request:
    """A token request with other claims in the client's assertion, signed again with its key."""
    if not is_to(request, TOKEN):
        return request
    original = read_jwt(parameters(request)["client_assertion"]).claims
    context = client.context
    signed = jwt.encode({**original, **claims}, context["private_key_pem"], context["signing_algorithm"])
    return altered(request, TOKEN, client_assertion=signed)


def parameters(request: Request) -> dict[str, str]:
    """The parameters in the query or the form."""
    form = request.target.partition("?")[2] if request.method == "GET" else request.body.decode()
    return dict(parse_qsl(form))


def _form(text: str, changes: dict[str, Any]) -> str:
    return urlencode(_changed(dict(parse_qsl(text)), changes))


def _changed(fields: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**fields, **changes}.items() if value is not None}

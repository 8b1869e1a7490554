"""Client ids: pre-registered, the URL of a metadata document, or registered by the client (RFC 7591)."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from assay.model.client_error import AuthorizationFailed

from .address import LOOPBACK
from .authorization_server import AuthorizationServer
from .challenge import read_scopes
from .client_authentication import BASIC, NONE, POST, WITH_SECRET, choose_method
from .document import ACCEPT, convert, read_object, refusal
from .effect import Flow, HttpRequest, HttpResponse
from .record import Registration

JSON: Final = {**ACCEPT, "Content-Type": "application/json"}


class _Answer(Struct):
    client_id: str
    client_secret: str | None = None
    client_secret_expires_at: float = 0
    token_endpoint_auth_method: str | None = None
    scope: str | None = None


def pre_registered(
    server: AuthorizationServer, client_id: str, secret: str | None, redirect_uri: str | None = None
) -> Registration:
    """A client that the server knows from elsewhere."""
    if secret is None:
        return Registration(client_id, redirect_uri=redirect_uri)
    supported = server.token_endpoint_auth_methods_supported or WITH_SECRET
    method = next((each for each in WITH_SECRET if each in supported), BASIC)
    return Registration(client_id, secret, method, redirect_uri)


def register(
    server: AuthorizationServer, name: str, redirect_uri: str, scopes: tuple[str, ...]
) -> Flow[Registration]:
    """
    Raises:
        AuthorizationFailed: the server does not accept the registration.
    """
    if server.registration_endpoint is None:
        raise AuthorizationFailed(
            f"the authorization server {server.issuer} registers no clients by itself: register one there"
            " and pass its client_id= (and client_secret=), or pass client_metadata_url= if the server"
            " supports client ID metadata documents"
        )
    method = choose_method(server, (NONE, BASIC, POST))
    url = server.endpoint("registration_endpoint")
    # Some servers grant only what a client was registered for.
    scope = {"scope": " ".join(scopes)} if scopes else {}
    body = msgspec.json.encode({**client_metadata(name, redirect_uri, method), **scope})
    response: HttpResponse = yield HttpRequest("POST", url, JSON, body)
    document = read_object(response.body)
    if response.status not in (200, 201) or document is None:
        raise refusal(response, f"the registration at {url}", "pass client_id= of a registered client")
    answer = convert(document, _Answer, f"the answer of the registration endpoint {url}")
    return Registration(
        answer.client_id,
        answer.client_secret,
        _method(answer, method),
        redirect_uri,
        answer.client_secret_expires_at or None,
        read_scopes(answer.scope),
        dynamic=True,
    )


def client_metadata(name: str, redirect_uri: str, method: str = NONE) -> dict[str, Any]:
    return {
        "client_name": name,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": "native" if _is_native(redirect_uri) else "web",
    }


def _is_native(redirect_uri: str) -> bool:
    parts = urlsplit(redirect_uri)
    return parts.scheme != "https" or parts.hostname in LOOPBACK


def _method(answer: _Answer, requested: str) -> str:
    """The server decides; a client without a secret cannot use one."""
    method = answer.token_endpoint_auth_method
    if method is None:
        method = BASIC if answer.client_secret is not None and requested == NONE else requested
    if method in WITH_SECRET and answer.client_secret is None:
        raise AuthorizationFailed(f"the server registered the client for {method}, without a secret")
    if method not in (NONE, *WITH_SECRET):
        raise AuthorizationFailed(f"the server registered the client for {method[:100]!r}, which is unknown")
    return method

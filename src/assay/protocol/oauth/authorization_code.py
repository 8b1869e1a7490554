"""The authorization code grant with PKCE: the user decides in a browser (RFC 6749, 7636 and 9207)."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from assay.model.client_error import AuthorizationFailed

from .authorization_server import AuthorizationServer
from .effect import Flow, Listen, Visit
from .grant import Grant, GrantRequest
from .record import Registration, Tokens
from .registration import pre_registered, register
from .scope_choice import with_offline_access
from .token_request import TokenEndpoint, request_tokens

RESPONSE_CHARACTERS: Final = 16 * 1024
ERROR_CHARACTERS: Final = 200


class CodeGrant(NamedTuple):
    """Options of a client that acts for a user."""

    client_name: str
    client_id: str | None = None
    client_secret: str | None = None
    metadata_url: str | None = None
    """The URL of a client ID metadata document."""
    issuer: str | None = None
    prompt: str | None = None

    def __repr__(self) -> str:
        return f"CodeGrant({self.client_id!r})"

    @property
    def is_configured(self) -> bool:
        return self.client_id is not None

    def identify(self, request: GrantRequest, stored: Registration | None) -> Flow[Registration]:
        """The client id to use, in the order that the specification recommends."""
        server = request.server
        _check_pkce(server)
        redirect_uri = yield Listen(None if stored is None else stored.redirect_uri)
        if self.client_id is not None:
            return pre_registered(server, self.client_id, self.client_secret, redirect_uri)
        if self.metadata_url is not None and server.client_id_metadata_document_supported:
            return Registration(self.metadata_url, redirect_uri=redirect_uri)
        scopes = with_offline_access(request.scopes, server)
        if stored is not None and _is_registered(stored, redirect_uri, scopes):
            return stored
        return (yield from register(server, self.client_name, redirect_uri, scopes))

    def obtain(self, request: GrantRequest, endpoint: TokenEndpoint) -> Flow[Tokens]:
        server, environment = request.server, request.environment
        registration = endpoint.authentication.registration
        redirect_uri = registration.redirect_uri or ""
        scopes = with_offline_access(request.scopes, server)
        # Recorded before the redirect: the response is compared with these, not with what it says itself.
        verifier, state = environment.random(), environment.random()
        query = {
            "response_type": "code",
            "client_id": registration.client_id,
            "redirect_uri": redirect_uri,
            "code_challenge": s256(verifier),
            "code_challenge_method": "S256",
            "state": state,
            "resource": request.resource.resource,
            **({"scope": " ".join(scopes)} if scopes else {}),
            **({"prompt": self.prompt} if self.prompt else {}),
        }
        url = with_query(server.endpoint("authorization_endpoint"), query)
        response = yield Visit(url, redirect_uri, state)
        code = read_code(response, redirect_uri, state, server)
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
            "resource": request.resource.resource,
        }
        return (yield from request_tokens(endpoint, form, scopes, request.resource.resource))


def _is_registered(stored: Registration, redirect_uri: str, scopes: tuple[str, ...]) -> bool:
    """Whether a registration is good for this request."""
    may_request = not stored.scopes or set(scopes) <= set(stored.scopes)
    return stored.dynamic and stored.redirect_uri == redirect_uri and may_request


def _check_pkce(server: AuthorizationServer) -> None:
    if "S256" not in server.code_challenge_methods_supported:
        raise AuthorizationFailed(
            f"the authorization server {server.issuer} does not say that it supports PKCE with S256"
            " (code_challenge_methods_supported): without it, an authorization code can be stolen"
        )


def s256(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def with_query(url: str, query: Mapping[str, str]) -> str:
    plain, _, _ = url.partition("#")
    separator = "&" if "?" in plain else "?"
    return f"{plain}{separator}{urlencode(query)}"


def read_code(response: str, redirect_uri: str, state: str, server: AuthorizationServer) -> str:
    """The code in an authorization response.

    Raises:
        AuthorizationFailed: it belongs to another request or server, or the user was not willing.
    """
    parameters = _parameters(response, redirect_uri)
    if parameters.get("state") != state:
        raise AuthorizationFailed(
            "the authorization response belongs to another request: its `state` differs"
        )
    # Before anything else is used, also an error: it may come from another server (RFC 9207, 2.4).
    _check_iss(parameters.get("iss"), server)
    error = parameters.get("error")
    if error is not None:
        description = parameters.get("error_description", "")[:ERROR_CHARACTERS]
        details = f" ({description})" if description else ""
        raise AuthorizationFailed(
            f"{server.issuer} refused the authorization: {error[:ERROR_CHARACTERS]}{details}",
            error[:ERROR_CHARACTERS],
        )
    code = parameters.get("code")
    if not code:
        raise AuthorizationFailed("the authorization response has neither a code nor an error")
    return code


def _parameters(response: str, redirect_uri: str) -> dict[str, str]:
    if len(response) > RESPONSE_CHARACTERS or response.partition("?")[0] != redirect_uri:
        raise AuthorizationFailed(
            f"the authorization response is not at the redirect URI: return the whole URL that begins with"
            f" {redirect_uri}"
        )
    try:
        pairs = parse_qsl(urlsplit(response).query, keep_blank_values=True, max_num_fields=50)
    except ValueError:
        pairs = []
    if len({name for name, _ in pairs}) != len(pairs):
        raise AuthorizationFailed("the authorization response has a parameter twice")
    return dict(pairs)


def _check_iss(iss: str | None, server: AuthorizationServer) -> None:
    """Compared as text, without any normalization."""
    if iss is None and server.authorization_response_iss_parameter_supported:
        raise AuthorizationFailed(
            f"the authorization response has no `iss`, which {server.issuer} always sends: rejected"
        )
    if iss is not None and iss != server.issuer:
        raise AuthorizationFailed(
            f"the authorization response comes from another issuer than {server.issuer}: rejected"
        )


_: type[Grant] = CodeGrant

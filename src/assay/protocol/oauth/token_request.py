"""Requests to a token endpoint, and the tokens in their answers (RFC 6749, 4 to 6)."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from assay.model.client_error import AuthorizationFailed

from .challenge import read_scopes
from .client_authentication import Authentication
from .document import ACCEPT, convert, read_object, refusal
from .dpop import Proofs
from .effect import Environment, Flow, HttpRequest, HttpResponse
from .record import Tokens

FORM: Final = {**ACCEPT, "Content-Type": "application/x-www-form-urlencoded"}
TOKEN: Final = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
TOKEN_CHARACTERS: Final = 16 * 1024
SCHEMES: Final = {"bearer": "Bearer", "dpop": "DPoP"}
REJECTED: Final = frozenset({400, 401, 403})
"""Statuses that say something about a refresh token; others may pass."""
UNKNOWN_CLIENT: Final = "invalid_client"
LONGEST: Final = 10 * 365 * 86_400.0


class _Answer(Struct):
    access_token: str
    token_type: str = "Bearer"
    expires_in: float | str | None = None
    refresh_token: str | None = None
    scope: str | None = None


class TokenEndpoint(NamedTuple):
    """Where tokens come from, and what each request there carries."""

    url: str
    environment: Environment
    authentication: Authentication
    proofs: Proofs | None = None

    def post(self, form: dict[str, str]) -> Flow[HttpResponse]:
        """Send a form with the client's credentials; once more if the server demands a nonce."""
        response: HttpResponse = yield self._request(form)
        if self.proofs is not None and self.proofs.learn(self.url, response.headers):
            document = read_object(response.body) or {}
            if response.status in (400, 401) and document.get("error") == "use_dpop_nonce":
                response = yield self._request(form)
                self.proofs.learn(self.url, response.headers)
        return response

    def _request(self, form: dict[str, str]) -> HttpRequest:
        fields, headers = dict(form), dict(FORM)
        self.authentication.apply(fields, headers)
        if self.proofs is not None:
            headers["DPoP"] = self.proofs.make("POST", self.url)
        return HttpRequest("POST", self.url, headers, urlencode(fields).encode())


def request_tokens(
    endpoint: TokenEndpoint, form: dict[str, str], requested: tuple[str, ...], resource: str
) -> Flow[Tokens]:
    """
    Raises:
        AuthorizationFailed: the server refused, or its answer has no token that can be used.
    """
    response = yield from endpoint.post(form)
    if response.status != 200:
        raise refusal(response, f"the token request at {endpoint.url}")
    return read_tokens(response, endpoint, requested, resource)


def read_tokens(
    response: HttpResponse, endpoint: TokenEndpoint, requested: tuple[str, ...], resource: str
) -> Tokens:
    source = f"the answer of the token endpoint {endpoint.url}"
    document = read_object(response.body)
    if document is None:
        raise AuthorizationFailed(f"{source} is not a JSON object")
    answer = convert(document, _Answer, source)
    scheme = SCHEMES.get(answer.token_type.lower())
    if scheme is None or (scheme == "DPoP" and endpoint.proofs is None):
        raise AuthorizationFailed(f"{source} has a token of an unusable type: {answer.token_type[:100]!r}")
    if not TOKEN.fullmatch(answer.access_token) or len(answer.access_token) > TOKEN_CHARACTERS:
        raise AuthorizationFailed(f"{source} has an access token that no header can carry")
    return Tokens(
        answer.access_token,
        scheme,
        _expiry(answer.expires_in, endpoint.environment.now()),
        answer.refresh_token,
        read_scopes(answer.scope) if answer.scope is not None else requested,
        resource,
        endpoint.url,
        endpoint.authentication.registration.client_id,
    )


def _expiry(seconds: Any, now: float) -> float | None:
    """Some servers write the number as a text."""
    try:
        lifetime = float(seconds)
    except (TypeError, ValueError):
        return None
    return now + lifetime if 0 <= lifetime <= LONGEST else None


def refresh(endpoint: TokenEndpoint, tokens: Tokens) -> Flow[Tokens | None]:
    """Tokens for a refresh token; None if the server no longer accepts it.

    Raises:
        AuthorizationFailed: the server does not know the client any more, or is out of order: the refresh
            token may still be valid then.
    """
    assert tokens.refresh_token is not None
    form = {"grant_type": "refresh_token", "refresh_token": tokens.refresh_token}
    if tokens.resource:
        form["resource"] = tokens.resource
    response = yield from endpoint.post(form)
    if response.status != 200:
        failure = refusal(response, f"refreshing the token at {endpoint.url}", "try again later")
        if response.status in REJECTED and failure.error != UNKNOWN_CLIENT:
            return None
        raise failure
    fresh = read_tokens(response, endpoint, tokens.scopes, tokens.resource)
    if fresh.refresh_token is not None:
        return fresh
    return replace(fresh, refresh_token=tokens.refresh_token)  # the server did not rotate it

"""Grants without an authorization code: refresh tokens, client credentials and assertions."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import jwt

from assay.authority.client_auth import ASSERTION
from assay.authority.federation import ID_JAG, ID_TOKEN
from assay.authority.record import JWT_BEARER, TOKEN_EXCHANGE
from assay.lab.harness.sabotage.saboteur import Json

from .failure import StepFailed
from .oauth_discovery import read_json

if TYPE_CHECKING:
    from .oauth import GrantRequest

MINUTE: Final = 60


async def by_refresh(request: GrantRequest) -> Json | None:
    """Use the refresh token of this server; None if there is none, or the server rejects it."""
    token = request.oauth.refreshes.pop(request.server.issuer, None)
    if token is None:
        return None
    identity = await request.oauth.identity(request.server)
    form = {"grant_type": "refresh_token", "refresh_token": token, "resource": request.resource.uri}
    try:
        return await request.exchange(*identity.prove(form))
    except StepFailed as reason:
        request.client.say(f"cannot refresh: {reason}")
        return None


async def by_credentials(request: GrantRequest) -> Json:
    """The client acts on its own behalf: it sends a secret, or a signed assertion."""
    form = {"grant_type": "client_credentials", **request.target}
    if "private_key_pem" in request.client.context:
        return await request.exchange({**form, **_client_assertion(request)}, {})
    return await request.exchange(*(await request.oauth.identity(request.server)).prove(form))


def _client_assertion(request: GrantRequest) -> dict[str, str]:
    """The client's identity, signed for this server (RFC 7523)."""
    context, now = request.client.context, int(time.time())
    claims = {
        "iss": context["client_id"],
        "sub": context["client_id"],
        "aud": request.server.issuer,
        "iat": now,
        "exp": now + MINUTE,
        "jti": secrets.token_urlsafe(16),
    }
    signed = jwt.encode(claims, context["private_key_pem"], context.get("signing_algorithm", "ES256"))
    return {"client_assertion_type": ASSERTION, "client_assertion": signed}


async def by_exchange(request: GrantRequest) -> Json:
    """Exchange the user's ID token at the identity provider for a grant to this server (RFC 8693)."""
    context = request.client.context
    form = {
        "grant_type": TOKEN_EXCHANGE,
        "requested_token_type": ID_JAG,
        "subject_token": context["idp_id_token"],
        "subject_token_type": ID_TOKEN,
        "audience": request.server.issuer,
        "resource": request.resource.uri,
        "client_id": context["idp_client_id"],
    }
    response = await request.oauth.post(context["idp_token_endpoint"], form, {})
    assertion = read_json(response.body).get("access_token")
    if response.status != 200 or not isinstance(assertion, str):
        raise StepFailed(f"the identity provider refused the exchange: HTTP status {response.status}")
    return await _exchange_assertion(request, assertion)


async def by_assertion(request: GrantRequest) -> Json:
    """Use the JWT that identifies the client as a workload."""
    return await _exchange_assertion(request, request.client.context["valid_jwt"])


async def _exchange_assertion(request: GrantRequest, assertion: str) -> Json:
    """Exchange an assertion of another issuer for a token (RFC 7523)."""
    identity = await request.oauth.identity(request.server)
    form = {"grant_type": JWT_BEARER, "assertion": assertion, **request.target}
    return await request.exchange(*identity.prove(form))


GRANTS: Final[dict[str, Callable[[GrantRequest], Awaitable[Json]]]] = {
    "client_credentials": by_credentials,
    "token_exchange": by_exchange,
    "jwt_bearer": by_assertion,
}
"""By their names in the context."""

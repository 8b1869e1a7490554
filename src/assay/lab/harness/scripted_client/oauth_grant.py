"""Grants besides authorization codes: of clients that act for themselves, or whom others vouch for."""

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

from .failure import Failed
from .oauth_discovery import read_json

if TYPE_CHECKING:
    from .oauth import Ask

MINUTE: Final = 60


async def by_refresh(ask: Ask) -> Json | None:
    """With the refresh token of this very server; none where there is none, or it is not good any more."""
    token = ask.wallet.refreshes.pop(ask.server.issuer, None)
    if token is None:
        return None
    identity = await ask.wallet.identity(ask.server)
    form = {"grant_type": "refresh_token", "refresh_token": token, "resource": ask.resource.uri}
    try:
        return await ask.exchange(*identity.prove(form))
    except Failed as reason:
        ask.client.say(f"cannot refresh: {reason}")
        return None


async def by_credentials(ask: Ask) -> Json:
    """The guest acts for itself: it shows a secret, or signs with its key."""
    form = {"grant_type": "client_credentials", **ask.about}
    if "private_key_pem" in ask.client.context:
        return await ask.exchange({**form, **_signature(ask)}, {})
    return await ask.exchange(*(await ask.wallet.identity(ask.server)).prove(form))


def _signature(ask: Ask) -> dict[str, str]:
    """Who the guest is, signed for this server (RFC 7523)."""
    context, now = ask.client.context, int(time.time())
    claims = {
        "iss": context["client_id"],
        "sub": context["client_id"],
        "aud": ask.server.issuer,
        "iat": now,
        "exp": now + MINUTE,
        "jti": secrets.token_urlsafe(16),
    }
    signed = jwt.encode(claims, context["private_key_pem"], context.get("signing_algorithm", "ES256"))
    return {"client_assertion_type": ASSERTION, "client_assertion": signed}


async def by_exchange(ask: Ask) -> Json:
    """The user is signed in at an identity provider, which gives a grant for the server (RFC 8693)."""
    context = ask.client.context
    form = {
        "grant_type": TOKEN_EXCHANGE,
        "requested_token_type": ID_JAG,
        "subject_token": context["idp_id_token"],
        "subject_token_type": ID_TOKEN,
        "audience": ask.server.issuer,
        "resource": ask.resource.uri,
        "client_id": context["idp_client_id"],
    }
    response = await ask.wallet.post(context["idp_token_endpoint"], form, {})
    granted = read_json(response.body).get("access_token")
    if response.status != 200 or not isinstance(granted, str):
        raise Failed(f"the identity provider gives no grant: HTTP status {response.status}")
    return await _bring(ask, granted)


async def by_assertion(ask: Ask) -> Json:
    """The guest is a workload, and has a token that says so."""
    return await _bring(ask, ask.client.context["valid_jwt"])


async def _bring(ask: Ask, assertion: str) -> Json:
    """What somebody else has signed, for a token (RFC 7523)."""
    identity = await ask.wallet.identity(ask.server)
    form = {"grant_type": JWT_BEARER, "assertion": assertion, **ask.about}
    return await ask.exchange(*identity.prove(form))


GRANTS: Final[dict[str, Callable[[Ask], Awaitable[Json]]]] = {
    "client_credentials": by_credentials,
    "token_exchange": by_exchange,
    "jwt_bearer": by_assertion,
}
"""By the names that the context has for them."""

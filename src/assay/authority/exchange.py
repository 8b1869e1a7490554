"""The token endpoint: what this authority and this client may exchange for tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from .federation import by_assertion, by_identity
from .grants import by_code, by_credentials, by_refresh
from .record import JWT_BEARER, TOKEN_EXCHANGE, Client
from .refusal import Refused

if TYPE_CHECKING:
    from .authority import Authority
    from .http import Form

BY: Final[dict[str, Callable[[Authority, Client, Form, str | None], dict[str, Any]]]] = {
    "authorization_code": by_code,
    "refresh_token": by_refresh,
    "client_credentials": by_credentials,
    TOKEN_EXCHANGE: by_identity,
    JWT_BEARER: by_assertion,
}


def exchange(authority: Authority, client: Client, form: Form, thumbprint: str | None) -> dict[str, Any]:
    """
    Raises:
        Refused: there is nothing for this client, or not for this.
    """
    kind, offered = form.need("grant_type"), authority.settings.grants
    if kind not in offered:
        raise Refused("unsupported_grant_type", f"grant_type must be one of {', '.join(offered)}")
    if kind not in client.grants:
        raise Refused("unauthorized_client", f"this client may not use {kind}")
    if client.dpop and thumbprint is None:
        raise Refused("invalid_dpop_proof", "this client's tokens are bound to a key: send a proof")
    return BY[kind](authority, client, form, thumbprint)

"""The token endpoint: choose the handler of a grant type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from .error import OAuthError
from .federation import by_assertion, by_identity
from .grants import by_code, by_credentials, by_refresh
from .record import JWT_BEARER, TOKEN_EXCHANGE, Client

if TYPE_CHECKING:
    from .authority import Authority
    from .http import Form

HANDLERS: Final[dict[str, Callable[[Authority, Client, Form, str | None], dict[str, Any]]]] = {
    "authorization_code": by_code,
    "refresh_token": by_refresh,
    "client_credentials": by_credentials,
    TOKEN_EXCHANGE: by_identity,
    JWT_BEARER: by_assertion,
}


def exchange(authority: Authority, client: Client, form: Form, thumbprint: str | None) -> dict[str, Any]:
    """
    Raises:
        OAuthError: The grant is refused, or not available to this client.
    """
    kind, offered = form.require("grant_type"), authority.settings.grants
    if kind not in offered:
        raise OAuthError("unsupported_grant_type", f"grant_type must be one of {', '.join(offered)}")
    if kind not in client.grants:
        raise OAuthError("unauthorized_client", f"this client may not use {kind}")
    if client.dpop and thumbprint is None:
        raise OAuthError("invalid_dpop_proof", "this client's tokens are bound to a key: send a proof")
    return HANDLERS[kind](authority, client, form, thumbprint)

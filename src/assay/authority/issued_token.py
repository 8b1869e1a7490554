"""Issued tokens: introspection (RFC 7662) and revocation (RFC 7009)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .error import invalid_client
from .record import Access, Client, Grant, digest

if TYPE_CHECKING:
    from .authority import Authority


def introspect(authority: Authority, client: Client, token: str) -> dict[str, Any]:
    """
    Raises:
        OAuthError: The client cannot authenticate; introspection would let anyone test guessed tokens.
    """
    if "none" in client.methods:
        raise invalid_client("introspection requires a client that can authenticate")
    claims = access_of(authority, token) or _refresh(authority, token)
    # Another client's token looks inactive: its claims are none of this client's concern (RFC 7662, 4).
    if claims is None or not (client.trusted or claims.get("client_id") == client.id):
        return {"active": False}
    return {"active": True, **claims}


def access_of(authority: Authority, token: str) -> dict[str, Any] | None:
    """The claims of an issued access token; `None` if it is unknown, expired or revoked."""
    record = authority.accesses.get(digest(token))
    if record is None or not _is_alive(authority, record):
        return None
    kind = "DPoP" if "cnf" in record.claims else "Bearer"
    return {**record.claims, "username": record.claims.get("sub"), "token_type": kind}


def _is_alive(authority: Authority, record: Access) -> bool:
    """A revoked grant invalidates all its tokens (RFC 7009, 2.1)."""
    return not record.grant or authority.grants.get(record.grant) is not None


def _refresh(authority: Authority, token: str) -> dict[str, Any] | None:
    grant = _grant_of(authority, token)
    if grant is None or grant.current != digest(token):
        return None
    return {
        "client_id": grant.client_id,
        "sub": grant.subject,
        "scope": " ".join(grant.scopes),
        "exp": int(grant.expires),
        "token_type": "refresh_token",
    }


def _grant_of(authority: Authority, token: str) -> Grant | None:
    known = authority.refreshes.get(digest(token))
    return None if known is None else authority.grants.get(known.grant)


def revoke(authority: Authority, client: Client, token: str) -> None:
    """Revoke a token of this client. Any other is ignored without an error (RFC 7009, 2.2)."""
    grant = _grant_of(authority, token)
    if grant is not None and grant.client_id == client.id:
        authority.grants.drop(grant.id)
    record = authority.accesses.get(digest(token))
    if record is not None and record.client_id == client.id:
        authority.accesses.drop(digest(token))

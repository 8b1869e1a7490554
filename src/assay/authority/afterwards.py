"""What can be done with a token that was given out: look into it (RFC 7662), or take it back (RFC 7009)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .record import Access, Client, Grant, digest
from .refusal import unknown_client

if TYPE_CHECKING:
    from .authority import Authority


def introspect(authority: Authority, client: Client, token: str) -> dict[str, Any]:
    """
    Raises:
        Refused: whoever cannot prove who it is learns nothing about tokens.
    """
    if "none" in client.methods:
        raise unknown_client("introspection needs a client that can authenticate")
    found = access_of(authority, token) or _refresh(authority, token)
    if found is None or not (client.trusted or found.get("client_id") == client.id):
        return {"active": False}
    return {"active": True, **found}


def access_of(authority: Authority, token: str) -> dict[str, Any] | None:
    """What an access token that was given out is good for; none for one that is not, or no longer."""
    record = authority.accesses.get(digest(token))
    if record is None or not _is_alive(authority, record):
        return None
    kind = "DPoP" if "cnf" in record.claims else "Bearer"
    return {**record.claims, "username": record.claims.get("sub"), "token_type": kind}


def _is_alive(authority: Authority, record: Access) -> bool:
    """A token goes with its family."""
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
    """Take back what was this client's; anything else is left as it is, without a word (RFC 7009, 2.2)."""
    grant = _grant_of(authority, token)
    if grant is not None and grant.client_id == client.id:
        authority.grants.drop(grant.id)
    record = authority.accesses.get(digest(token))
    if record is not None and record.client_id == client.id:
        authority.accesses.drop(digest(token))

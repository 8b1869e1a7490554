"""Which scopes a client requests."""

from __future__ import annotations

from typing import Final

from .authorization_server import AuthorizationServer
from .challenge import Challenge
from .protected_resource import ProtectedResource

OFFLINE: Final = "offline_access"


def choose_scopes(
    challenge: Challenge,
    resource: ProtectedResource,
    configured: tuple[str, ...],
    earlier: tuple[str, ...],
) -> tuple[str, ...]:
    """Those of the challenge, else those that the user or the server's metadata list; with those that were
    requested before, so that other calls still work. None at all leaves the choice to the authorization
    server."""
    needed = configured + challenge.scopes if configured else challenge.scopes or resource.scopes
    return tuple(dict.fromkeys(earlier + needed))


def with_offline_access(scopes: tuple[str, ...], server: AuthorizationServer) -> tuple[str, ...]:
    """With the scope for a refresh token, if the server has it. On its own it would replace the scopes that
    the server grants by default."""
    if scopes and OFFLINE not in scopes and server.offers_offline_access:
        return (*scopes, OFFLINE)
    return scopes

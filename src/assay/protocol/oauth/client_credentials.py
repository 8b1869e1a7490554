"""The client credentials grant: a program acts for itself (RFC 6749, 4.4)."""

from __future__ import annotations

from typing import NamedTuple

from .client_authentication import PRIVATE_KEY
from .effect import Flow
from .grant import Grant, GrantRequest
from .record import Registration, Tokens
from .registration import pre_registered
from .token_request import TokenEndpoint, request_tokens


class CredentialsGrant(NamedTuple):
    client_id: str
    client_secret: str | None = None
    """None for a client that signs assertions with its private key."""
    issuer: str | None = None
    is_configured: bool = True

    def __repr__(self) -> str:
        return f"CredentialsGrant({self.client_id!r})"

    def identify(self, request: GrantRequest, stored: Registration | None) -> Flow[Registration]:
        yield from ()
        if self.client_secret is None:
            return Registration(self.client_id, method=PRIVATE_KEY)
        return pre_registered(request.server, self.client_id, self.client_secret)

    def obtain(self, request: GrantRequest, endpoint: TokenEndpoint) -> Flow[Tokens]:
        resource, scopes = request.resource.resource, request.scopes
        form = {"grant_type": "client_credentials", "resource": resource}
        if scopes:
            form["scope"] = " ".join(scopes)
        return (yield from request_tokens(endpoint, form, scopes, resource))


_: type[Grant] = CredentialsGrant

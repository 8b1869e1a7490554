"""From a challenge to tokens: discovery, the client's identity, and a grant."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from assay.model.client_error import AuthorizationFailed

from .authorization_server import AuthorizationServer, find_server
from .challenge import Challenge
from .client_authentication import Authentication
from .dpop import Proofs
from .effect import Environment, Flow, Save, Signer
from .protected_resource import ProtectedResource, find_resource
from .record import Record, Registration, Tokens
from .scope_choice import choose_scopes
from .token_request import UNKNOWN_CLIENT, TokenEndpoint, refresh


class GrantRequest(NamedTuple):
    """For what, and from whom, tokens are requested."""

    resource: ProtectedResource
    server: AuthorizationServer
    scopes: tuple[str, ...]
    environment: Environment


class Grant(Protocol):
    """A way to get tokens, with the options of the user."""

    @property
    def issuer(self) -> str | None:
        """The only authorization server that may be used, if the user names one."""
        ...

    @property
    def is_configured(self) -> bool:
        """Whether the client id comes from the user, who registered it at one authorization server."""
        ...

    def identify(self, request: GrantRequest, stored: Registration | None) -> Flow[Registration]: ...

    def obtain(self, request: GrantRequest, endpoint: TokenEndpoint) -> Flow[Tokens]: ...


class Outcome(NamedTuple):
    record: Record
    refreshed: bool
    """Whether a refresh token was enough."""


class Authorization(NamedTuple):
    """Everything that stays the same for one client and one server."""

    url: str
    """Of the MCP server, as a resource."""
    grant: Grant
    environment: Environment
    proofs: Callable[[], Proofs]
    """Makes the key when it is needed."""
    scopes: tuple[str, ...] = ()
    dpop: bool | None = None
    """Whether tokens are bound to a key; None if the server decides."""
    signer: Signer | None = None
    """Authenticates the client."""

    def authorize(self, record: Record, challenge: Challenge, version: str | None = None) -> Flow[Outcome]:
        """Get tokens that a challenge asks for: refreshed if that is enough, else by the grant.

        Raises:
            AuthorizationFailed: it is not possible.
        """
        resource = yield from find_resource(self.url, challenge, version)
        issuer = self._choose_issuer(resource, record)
        server = yield from find_server(resource, issuer, version)
        credentials = record.at(issuer)
        scopes = choose_scopes(challenge, resource, self.scopes, credentials.requested)
        request = GrantRequest(resource, server, scopes, self.environment)
        proofs = self._choose_proofs(challenge, resource, server)
        stored = self._usable(credentials.registration)
        try:
            if _can_refresh(credentials.tokens, credentials.registration, challenge, resource):
                fresh = yield from self._refresh(record, issuer, server.endpoint("token_endpoint"), proofs)
                if fresh is not None:
                    return Outcome(fresh, refreshed=True)
            obtained = yield from self._obtain(record, request, stored, proofs)
        except AuthorizationFailed as error:
            if error.error != UNKNOWN_CLIENT or stored is None or not stored.dynamic:
                raise
            obtained = yield from self._obtain(record, request, None, proofs)
        return Outcome(obtained, refreshed=False)

    def renew(self, record: Record) -> Flow[Record | None]:
        """Refreshed tokens, without asking the MCP server; None if a challenge is needed first.

        Raises:
            AuthorizationFailed: the authorization server is out of order.
        """
        tokens = record.tokens
        if tokens is None or tokens.refresh_token is None or not tokens.token_endpoint:
            return None
        proofs = self.proofs() if tokens.token_type == "DPoP" else None
        try:
            return (yield from self._refresh(record, record.issuer, tokens.token_endpoint, proofs))
        except AuthorizationFailed as error:
            if error.error != UNKNOWN_CLIENT:
                raise
            return None

    def _obtain(
        self, record: Record, request: GrantRequest, stored: Registration | None, proofs: Proofs | None
    ) -> Flow[Record]:
        issuer = request.server.issuer
        registration = yield from self.grant.identify(request, stored)
        if registration != stored:
            yield Save(record.updated(issuer, registration=registration))
        endpoint = self._endpoint(request.server.endpoint("token_endpoint"), issuer, registration, proofs)
        tokens = yield from self.grant.obtain(request, endpoint)
        if self.dpop and tokens.token_type != "DPoP":
            raise AuthorizationFailed(f"{issuer} issued a token that is not bound to a key: it needs DPoP")
        return record.updated(issuer, registration=registration, tokens=tokens, requested=request.scopes)

    def _refresh(self, record: Record, issuer: str, url: str, proofs: Proofs | None) -> Flow[Record | None]:
        credentials = record.at(issuer)
        registration, tokens = credentials.registration, credentials.tokens
        if registration is None or tokens is None or tokens.client_id != registration.client_id:
            return None
        fresh = yield from refresh(self._endpoint(url, issuer, registration, proofs), tokens)
        return None if fresh is None else record.updated(issuer, tokens=fresh)

    def _endpoint(
        self, url: str, issuer: str, registration: Registration, proofs: Proofs | None
    ) -> TokenEndpoint:
        authentication = Authentication(registration, issuer, self.environment, self.signer)
        return TokenEndpoint(url, self.environment, authentication, proofs)

    def _choose_issuer(self, resource: ProtectedResource, record: Record) -> str:
        """The one that the user names; else the one in use, if the server still trusts it; else the first."""
        pinned = self.grant.issuer
        if pinned is None and self.grant.is_configured:
            pinned = record.issuer or None
        if pinned is not None:
            if pinned not in resource.issuers:
                raise AuthorizationFailed(
                    f"the credentials are those of {pinned}, and the server trusts"
                    f" {', '.join(resource.issuers)[:300]}: they must not be sent there; register there, and"
                    " pass the new credentials with issuer="
                )
            return pinned
        return record.issuer if record.issuer in resource.issuers else resource.issuers[0]

    def _choose_proofs(
        self, challenge: Challenge, resource: ProtectedResource, server: AuthorizationServer
    ) -> Proofs | None:
        demanded = challenge.scheme == "dpop" or resource.needs_dpop
        if not (demanded if self.dpop is None else self.dpop):
            return None
        proofs, supported = self.proofs(), server.dpop_signing_alg_values_supported
        if supported and proofs.signer.algorithm not in supported:
            raise AuthorizationFailed(
                f"{server.issuer} accepts DPoP proofs with {', '.join(supported)[:200]},"
                f" and this client signs with {proofs.signer.algorithm}"
            )
        return proofs

    def _usable(self, registration: Registration | None) -> Registration | None:
        if registration is None or registration.expires is None:
            return registration
        return registration if registration.expires > self.environment.now() else None


def _can_refresh(
    tokens: Tokens | None,
    registration: Registration | None,
    challenge: Challenge,
    resource: ProtectedResource,
) -> bool:
    """A refreshed token has no further scopes, and must be for the same resource."""
    if tokens is None or tokens.refresh_token is None or registration is None or challenge.needs_scope:
        return False
    missing = set(challenge.scopes) - set(tokens.scopes)
    return tokens.resource == resource.resource and not missing

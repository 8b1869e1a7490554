"""Grants by a token of another issuer (RFC 7523): the identity of a workload, or of a user whom the identity
provider of an enterprise knows (RFC 8693, ID-JAG)."""

from __future__ import annotations

from typing import Final, NamedTuple

from assay.model.client_error import AuthorizationFailed

from .address import check_url
from .authorization_server import find_server
from .client_authentication import Authentication
from .document import read_object, refusal
from .effect import Flow, Supply
from .grant import Grant, GrantRequest
from .protected_resource import ProtectedResource
from .record import Registration, Tokens
from .registration import pre_registered
from .token_request import TOKEN, TokenEndpoint, request_tokens

JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
TOKEN_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
ID_JAG: Final = "urn:ietf:params:oauth:token-type:id-jag"
ASSERTION: Final = "assertion"
SUBJECT: Final = "subject_token"


class AssertionGrant(NamedTuple):
    """With the token of a workload."""

    client_id: str = ""
    client_secret: str | None = None
    issuer: str | None = None
    is_configured: bool = True

    def __repr__(self) -> str:
        return f"AssertionGrant({self.client_id!r})"

    def identify(self, request: GrantRequest, stored: Registration | None) -> Flow[Registration]:
        yield from ()
        return pre_registered(request.server, self.client_id, self.client_secret)

    def obtain(self, request: GrantRequest, endpoint: TokenEndpoint) -> Flow[Tokens]:
        assertion = yield Supply(ASSERTION)
        return (yield from _by_assertion(request, endpoint, assertion))


class IdentityProvider(NamedTuple):
    client_id: str
    issuer: str | None = None
    token_endpoint: str | None = None
    """Found by the issuer's metadata if None."""
    client_secret: str | None = None
    subject_token_type: str = "urn:ietf:params:oauth:token-type:id_token"

    def __repr__(self) -> str:
        return f"IdentityProvider({self.client_id!r})"


class EnterpriseGrant(NamedTuple):
    """The identity provider exchanges the user's ID token for a grant at another authorization server."""

    client_id: str
    client_secret: str | None
    provider: IdentityProvider
    issuer: str | None = None
    is_configured: bool = True

    def __repr__(self) -> str:
        return f"EnterpriseGrant({self.client_id!r})"

    def identify(self, request: GrantRequest, stored: Registration | None) -> Flow[Registration]:
        yield from ()
        return pre_registered(request.server, self.client_id, self.client_secret)

    def obtain(self, request: GrantRequest, endpoint: TokenEndpoint) -> Flow[Tokens]:
        grant = yield from self._exchange(request)
        return (yield from _by_assertion(request, endpoint, grant))

    def _exchange(self, request: GrantRequest) -> Flow[str]:
        """
        Raises:
            AuthorizationFailed: the identity provider refused.
        """
        subject = yield Supply(SUBJECT)
        endpoint = yield from self._provider_endpoint(request)
        form = {
            "grant_type": TOKEN_EXCHANGE,
            "requested_token_type": ID_JAG,
            "subject_token": subject,
            "subject_token_type": self.provider.subject_token_type,
            "audience": request.server.issuer,
            "resource": request.resource.resource,
        }
        if request.scopes:
            form["scope"] = " ".join(request.scopes)
        response = yield from endpoint.post(form)
        document = read_object(response.body) or {}
        grant = document.get("access_token")
        if response.status != 200 or not isinstance(grant, str):
            raise refusal(response, f"the exchange of the ID token at {endpoint.url}")
        if document.get("issued_token_type", ID_JAG) != ID_JAG or not TOKEN.fullmatch(grant):
            raise AuthorizationFailed(
                f"the identity provider {endpoint.url} issued something else than an ID-JAG"
            )
        return grant

    def _provider_endpoint(self, request: GrantRequest) -> Flow[TokenEndpoint]:
        provider = self.provider
        url = provider.token_endpoint
        issuer = provider.issuer or url or ""
        if url is None:
            known = ProtectedResource(issuer, (issuer,))
            server = yield from find_server(known, issuer, None)
            url = server.endpoint("token_endpoint")
        check_url(url, "the token endpoint of the identity provider")
        method = "none" if provider.client_secret is None else "client_secret_basic"
        registration = Registration(provider.client_id, provider.client_secret, method)
        environment = request.environment
        return TokenEndpoint(url, environment, Authentication(registration, issuer, environment))


def _by_assertion(request: GrantRequest, endpoint: TokenEndpoint, assertion: str) -> Flow[Tokens]:
    resource, scopes = request.resource.resource, request.scopes
    form = {"grant_type": JWT_BEARER, "assertion": assertion, "resource": resource}
    if scopes:
        form["scope"] = " ".join(scopes)
    return (yield from request_tokens(endpoint, form, scopes, resource))


_: tuple[type[Grant], ...] = (AssertionGrant, EnterpriseGrant)

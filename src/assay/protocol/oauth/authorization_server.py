"""Authorization server metadata (RFC 8414, OpenID Connect Discovery)."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from assay.model.client_error import AuthorizationFailed

from .address import base, check_url
from .challenge import read_scopes
from .document import convert, fetch
from .effect import Flow
from .protected_resource import ProtectedResource

OAUTH: Final = "/.well-known/oauth-authorization-server"
OIDC: Final = "/.well-known/openid-configuration"
ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "registration_endpoint")


class AuthorizationServer(Struct, frozen=True):
    issuer: str
    authorization_endpoint: str | None = None
    token_endpoint: str | None = None
    registration_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] | None = None
    grant_types_supported: tuple[str, ...] | None = None
    code_challenge_methods_supported: tuple[str, ...] = ()
    scopes_supported: tuple[str, ...] = ()
    dpop_signing_alg_values_supported: tuple[str, ...] = ()
    client_id_metadata_document_supported: bool = False
    authorization_response_iss_parameter_supported: bool = False

    def endpoint(self, name: str) -> str:
        """
        Raises:
            AuthorizationFailed: the server has no such endpoint, or not at a safe URL.
        """
        url = getattr(self, name)
        if url is None:
            raise AuthorizationFailed(f"the authorization server {self.issuer} has no {name}")
        return check_url(url, f"the {name} of {self.issuer}")

    @property
    def offers_offline_access(self) -> bool:
        return "offline_access" in read_scopes(" ".join(self.scopes_supported))


def find_server(resource: ProtectedResource, issuer: str, version: str | None) -> Flow[AuthorizationServer]:
    """
    Raises:
        AuthorizationFailed: the server has no metadata, or those of another issuer.
    """
    check_url(issuer, "the issuer in the metadata of the resource")
    for address in _addresses(issuer):
        document = yield from fetch(address, version)
        if document is not None:
            server = convert(document, AuthorizationServer, f"the metadata at {address}")
            _check_issuer(server, issuer, resource)
            return server
    if resource.described:
        raise AuthorizationFailed(
            f"the authorization server {issuer} publishes no metadata: tried {', '.join(_addresses(issuer))}"
        )
    return _by_default_paths(issuer)


def _addresses(issuer: str) -> list[str]:
    path = urlsplit(issuer).path.rstrip("/")
    host = base(issuer)
    inserted = [f"{host}{OAUTH}{path}", f"{host}{OIDC}{path}"]
    return [*inserted, f"{host}{path}{OIDC}"] if path else inserted


def _check_issuer(server: AuthorizationServer, issuer: str, resource: ProtectedResource) -> None:
    # Compared as text: servers that differ in a slash are different servers (RFC 8414, 3.3). Without metadata
    # of the resource, the issuer was derived from its URL, and may well be written with a slash.
    if server.issuer == issuer or (not resource.described and server.issuer == f"{issuer}/"):
        return
    raise AuthorizationFailed(
        f"the metadata of the authorization server {issuer} are those of another issuer,"
        f" {server.issuer[:200]!r}: they must not be used"
    )


def _by_default_paths(issuer: str) -> AuthorizationServer:
    """The endpoints of a server without any metadata (as in the first revision with authorization)."""
    host = base(issuer)
    return AuthorizationServer(
        issuer,
        f"{host}/authorize",
        f"{host}/token",
        f"{host}/register",
        code_challenge_methods_supported=("S256",),
    )

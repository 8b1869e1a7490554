"""Authorization without a user at the client: a program for itself, a workload, or an enterprise's user."""

from __future__ import annotations

from collections.abc import Iterable

from assay.protocol.oauth.assertion import (
    ASSERTION,
    SUBJECT,
    AssertionGrant,
    EnterpriseGrant,
    IdentityProvider,
)
from assay.protocol.oauth.client_credentials import CredentialsGrant

from .options import check_configured, check_options, check_scopes, check_supplier
from .plan import Plan, Supplier
from .signing import JwtSigner
from .storage import TokenStorage


class ClientCredentials:
    """Authorization of a program that acts for itself: the client credentials grant.

        Client("https://example.com/mcp", auth=ClientCredentials("my-client", "my-secret"))

    Args:
        client_id: The client id that was registered at the authorization server.
        client_secret: Its secret.
        private_key: Instead of a secret: the PEM of the private key that signs assertions
            (`private_key_jwt`).
        algorithm: The algorithm of the signature; by default the usual one of the key.
        key_id: The `kid` of the key, if the authorization server needs it.
        issuer: The only authorization server that may be used. Without it, the credentials go to the one that
            the MCP server names first.
        scopes: Scopes to request; by default those that the server names.
        storage: Where tokens are stored; by default in memory, for this object.
        dpop: Bind tokens to a key; by default if the server demands it.

    Raises:
        ValueError: an argument is invalid.
        MissingExtra: a private key needs the extra `auth`.
    """

    def __init__(
        self,
        client_id: str,
        client_secret: str | None = None,
        *,
        private_key: str | bytes | None = None,
        algorithm: str | None = None,
        key_id: str | None = None,
        issuer: str | None = None,
        scopes: Iterable[str] = (),
        storage: TokenStorage | None = None,
        dpop: bool | None = None,
    ) -> None:
        stored = check_options(storage, client_id=client_id, client_secret=client_secret)
        if (client_secret is None) == (private_key is None):
            raise ValueError("pass client_secret= or private_key=")
        signer = None if private_key is None else JwtSigner(private_key, algorithm, key_id)
        self.plan = Plan(
            CredentialsGrant(client_id, client_secret, issuer),
            stored,
            f"client {client_id}",
            check_scopes(scopes),
            dpop,
            signer,
            trusted=check_configured(issuer=issuer),
        )


class WorkloadIdentity:
    """Authorization of a workload with a token of its platform: the JWT bearer grant (RFC 7523).

        Client("https://example.com/mcp", auth=WorkloadIdentity(read_platform_token))

    Args:
        assertion: The platform's token, or a function that returns a current one. It may be a coroutine
            function.
        client_id: The client id, if the authorization server needs it.
        client_secret: Its secret, if it has one.
        issuer: The only authorization server that may be used. Without it, the assertion goes to the one that
            the MCP server names first.
        scopes: Scopes to request; by default those that the server names.
        storage: Where tokens are stored; by default in memory, for this object.
        dpop: Bind tokens to a key; by default if the server demands it.

    Raises:
        ValueError: an argument is invalid.
    """

    def __init__(
        self,
        assertion: Supplier,
        *,
        client_id: str = "",
        client_secret: str | None = None,
        issuer: str | None = None,
        scopes: Iterable[str] = (),
        storage: TokenStorage | None = None,
        dpop: bool | None = None,
    ) -> None:
        stored = check_options(storage, client_id=client_id, client_secret=client_secret)
        check_supplier("assertion", assertion)
        self.plan = Plan(
            AssertionGrant(client_id, client_secret, issuer),
            stored,
            f"workload {client_id}",
            check_scopes(scopes),
            dpop,
            suppliers={ASSERTION: assertion},
            trusted=check_configured(issuer=issuer),
        )


class EnterpriseAuth:
    """Authorization that an enterprise's identity provider decides, without asking the user again: the ID
    token of the user is exchanged there for a grant at the server's authorization server (ID-JAG).

    Args:
        client_id: The client id at the authorization server of the MCP server.
        client_secret: Its secret, if it has one.
        id_token: The user's ID token, or a function that returns a current one. It may be a coroutine
            function.
        idp_client_id: The client id at the identity provider.
        idp_client_secret: Its secret, if it has one.
        idp_issuer: The identity provider, whose metadata name its token endpoint.
        idp_token_endpoint: The token endpoint itself.
        issuer: The only authorization server that may be used.
        scopes: Scopes to request; by default those that the server names.
        storage: Where tokens are stored; by default in memory, for this object.
        dpop: Bind tokens to a key; by default if the server demands it.

    Raises:
        ValueError: an argument is invalid.
    """

    def __init__(
        self,
        client_id: str,
        client_secret: str | None = None,
        *,
        id_token: Supplier,
        idp_client_id: str,
        idp_client_secret: str | None = None,
        idp_issuer: str | None = None,
        idp_token_endpoint: str | None = None,
        issuer: str | None = None,
        scopes: Iterable[str] = (),
        storage: TokenStorage | None = None,
        dpop: bool | None = None,
    ) -> None:
        stored = check_options(
            storage, client_id=client_id, client_secret=client_secret, idp_client_id=idp_client_id
        )
        check_supplier("id_token", id_token)
        if idp_issuer is None and idp_token_endpoint is None:
            raise ValueError("pass idp_issuer= or idp_token_endpoint=")
        provider = IdentityProvider(idp_client_id, idp_issuer, idp_token_endpoint, idp_client_secret)
        trusted = check_configured(
            issuer=issuer, idp_issuer=idp_issuer, idp_token_endpoint=idp_token_endpoint
        )
        self.plan = Plan(
            EnterpriseGrant(client_id, client_secret, provider, issuer),
            stored,
            f"enterprise {client_id}",
            check_scopes(scopes),
            dpop,
            suppliers={SUBJECT: id_token},
            trusted=trusted,
        )

"""The option `auth=` of a client."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from assay.transport.client.port import Authorizer
    from assay.transport.client.proxy import ProxyOption

    from .oauth import OAuth
    from .service import ClientCredentials, EnterpriseAuth, WorkloadIdentity

    Auth = OAuth | ClientCredentials | EnterpriseAuth | WorkloadIdentity | str


OAUTH: Final = "oauth"
"""Instead of `OAuth()`, as other clients know it."""


def check_server(url: str) -> None:
    """
    Raises:
        ValueError: tokens must not be sent to this URL.
    """
    from assay.model.client_error import AuthorizationFailed
    from assay.protocol.oauth.address import check_url, server_url

    try:
        check_url(server_url(url), "the URL of a server that gets tokens")
    except AuthorizationFailed as error:
        raise ValueError(str(error)) from None


def make_authorizer(
    auth: Auth, url: Any, tls: ssl.SSLContext | None, proxy: ProxyOption = None
) -> Authorizer:
    """
    Raises:
        TypeError: not an authorization, or the target has no URL.
        ValueError: tokens must not be sent to this URL.
        MissingExtra: OAuth needs the extra `auth`.
    """
    if not isinstance(url, str):
        raise TypeError("auth= is for servers with a URL")
    check_server(url)
    if isinstance(auth, str) and auth != OAUTH:
        from .bearer import BearerAuthorizer

        return BearerAuthorizer(auth)
    from .authorizer import TokenAuthorizer
    from .plan import Connection, Plan

    if auth == OAUTH:
        from .oauth import OAuth

        auth = OAuth()
    plan = getattr(auth, "plan", None)
    if not isinstance(plan, Plan):
        raise TypeError(f"auth= is a token or an authorization such as OAuth(), not {type(auth).__name__}")
    return TokenAuthorizer(plan, Connection(url, tls, proxy))

"""`OAuth`: a user authorizes the client."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from urllib.parse import urlsplit

from assay.model.client_error import AuthorizationFailed
from assay.protocol.oauth.address import LOOPBACK, check_url
from assay.protocol.oauth.authorization_code import CodeGrant

from .http_client import HttpClient
from .options import check_configured, check_options, check_scopes
from .plan import Plan
from .storage import TokenStorage
from .visitor import BrowserVisitor, FunctionVisitor, HeadlessVisitor, VisitFunction, Visitor


class OAuth:
    """Authorization by a user: the authorization code grant with PKCE.

        Client("https://example.com/mcp", auth=OAuth())

    A browser opens when the server asks for authorization, and the answer arrives at a port of this machine.

    Args:
        scopes: Scopes to request; by default those that the server names.
        client_id: A client id that was registered at the authorization server; by default the client
            registers itself.
        client_secret: Its secret, if it has one.
        client_metadata_url: The https URL of a client ID metadata document, for servers that support them.
        client_name: The name that the user sees if the client registers itself.
        issuer: The only authorization server that may be used.
        redirect_uri: Where the answer arrives; by default a free port of 127.0.0.1. A registered client may
            need the one that it was registered with.
        visit: Replaces the browser: a function of the authorization URL that lets the user decide there, and
            returns the URL that the user was redirected to. It may be a coroutine function.
        headless: Follow redirects instead of opening a browser, for servers that do not ask a person.
        storage: Where tokens are stored; by default in memory, for this object.
        dpop: Bind tokens to a key; by default if the server demands it.
        timeout: Seconds for an authorization, with the time of the user.

    Raises:
        ValueError: an argument is invalid.
    """

    def __init__(
        self,
        *,
        scopes: Iterable[str] = (),
        client_id: str | None = None,
        client_secret: str | None = None,
        client_metadata_url: str | None = None,
        client_name: str = "Assay client",
        issuer: str | None = None,
        redirect_uri: str | None = None,
        visit: VisitFunction | None = None,
        headless: bool = False,
        storage: TokenStorage | None = None,
        dpop: bool | None = None,
        timeout: float = 300.0,
    ) -> None:
        stored = check_options(
            storage,
            timeout,
            client_id=client_id,
            client_secret=client_secret,
            client_metadata_url=client_metadata_url,
            client_name=client_name,
            redirect_uri=redirect_uri,
        )
        if visit is not None and not callable(visit):
            raise TypeError(f"visit must be a function of the authorization URL, not {type(visit).__name__}")
        if client_secret is not None and client_id is None:
            raise ValueError("client_secret= needs client_id=")
        if headless and visit is not None:
            raise ValueError("pass headless=True or visit=, not both")
        grant = CodeGrant(client_name, client_id, client_secret, _document(client_metadata_url), issuer)
        with_listener = visit is None and not headless
        self.plan = Plan(
            grant,
            stored,
            f"user {client_id or client_metadata_url or ''}",
            check_scopes(scopes),
            dpop,
            make_visitor=partial(_visitor, visit, headless, _redirect(redirect_uri, with_listener)),
            trusted=check_configured(issuer=issuer),
            timeout=timeout,
        )


def _visitor(
    visit: VisitFunction | None, headless: bool, redirect_uri: str | None, http: HttpClient
) -> Visitor:
    if visit is not None:
        return FunctionVisitor(visit, redirect_uri)
    return HeadlessVisitor(http, redirect_uri) if headless else BrowserVisitor(redirect_uri)


def _document(url: str | None) -> str | None:
    if url is None:
        return None
    parts = urlsplit(url)
    if parts.scheme != "https" or parts.path in ("", "/") or parts.fragment:
        raise ValueError(f"client_metadata_url must be an https URL with a path: {url!r}")
    return url


def _redirect(uri: str | None, with_listener: bool) -> str | None:
    if uri is None:
        return None
    parts = urlsplit(uri)
    if with_listener and (parts.scheme != "http" or parts.hostname not in LOOPBACK or not parts.port):
        raise ValueError(f"redirect_uri must be like http://127.0.0.1:8765/callback, or pass visit=: {uri!r}")
    if parts.scheme in ("http", "https"):
        try:
            check_url(uri, "redirect_uri")
        except AuthorizationFailed as error:
            raise ValueError(str(error)) from None
    if parts.query or parts.fragment:
        raise ValueError(f"redirect_uri must have no query and fragment: {uri!r}")
    return uri

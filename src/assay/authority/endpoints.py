"""The endpoints: each reads a request, calls the module that decides, and builds the response."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable
from html import escape
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

import msgspec

from . import issued_token
from .authorize import client_and_redirect, grant_request, read_request, refuse_request
from .client_auth import authenticate
from .clients import register_client
from .consent import ask, error_page, page, redeem
from .dpop import proven_key
from .error import DisplayedError, OAuthError
from .exchange import exchange
from .http import (
    NOT_STORED,
    Form,
    Request,
    Response,
    json_response,
    read_form,
    read_parameters,
    redirect_response,
)
from .metadata import metadata
from .record import AuthorizationRequest
from .settings import LOOPBACK

if TYPE_CHECKING:
    from .authority import Authority

Endpoint = Callable[["Authority", Request], Awaitable[Response]]
FRESH: Final = (("cache-control", "public, max-age=60"),)
"""Keys rotate, so caches should be short-lived."""


async def describe(authority: Authority, request: Request) -> Response:
    if "metadata-redirect" in authority.faults:
        return redirect_response(f"{authority.settings.elsewhere}{request.path}")
    return json_response(metadata(authority), headers=FRESH)


async def publish_keys(authority: Authority, request: Request) -> Response:
    return json_response(authority.jwks(), headers=FRESH)


async def welcome(authority: Authority, request: Request) -> Response:
    return page("Assay authority", f"<p>Issuer: <code>{escape(authority.issuer)}</code></p>")


async def authorize(authority: Authority, request: Request) -> Response:
    try:
        form = read_parameters(request.query, authority.settings.bounds.fields)
        client, redirect = await client_and_redirect(authority, form)
    except DisplayedError as error:
        return error_page(error)
    except OAuthError as error:
        return error_page(DisplayedError(error.error, error.description))
    try:
        authorization = read_request(authority.settings, client, redirect, form)
    except OAuthError as error:
        return refuse_request(authority, redirect, error, _state(form))
    if authority.settings.auto_approve:
        return grant_request(authority, authorization, _user(authority, form.every("login_hint")))
    return ask(authority, request, client, authorization)


def _state(form: Form) -> str | None:
    """Returned with errors too (RFC 6749, 4.1.2.1), unless it was sent twice."""
    values = form.every("state")
    return values[0] if len(values) == 1 else None


def _user(authority: Authority, names: tuple[str, ...]) -> str:
    known = authority.settings.users
    return names[0] if len(names) == 1 and names[0] in known else known[0]


async def consent(authority: Authority, request: Request) -> Response:
    try:
        form = read_form(request, authority.settings.bounds.fields)
        authorization = redeem(authority, request, form.require("ticket"))
    except OAuthError as error:
        return error_page(DisplayedError(error.error, error.description))
    if form.every("decision") != ("allow",):
        denial = OAuthError("access_denied", "the user denied the request")
        return refuse_request(authority, authorization.redirect, denial, authorization.state)
    return grant_request(authority, _narrowed(authorization, form), _user(authority, form.every("user")))


def _narrowed(authorization: AuthorizationRequest, form: Form) -> AuthorizationRequest:
    scopes = tuple(scope for scope in authorization.scopes if scope in form.every("scope"))
    return msgspec.structs.replace(authorization, scopes=scopes)


async def token(authority: Authority, request: Request) -> Response:
    form = read_form(request, authority.settings.bounds.fields)
    client = await authenticate(authority, request, form)
    reply = exchange(authority, client, form, proven_key(authority, request))
    headers = FRESH if "cached-token" in authority.faults else NOT_STORED
    nonce = (("dpop-nonce", authority.nonces.current()),) if authority.settings.dpop_nonce else ()
    return json_response(reply, headers=(*headers, *nonce))


async def register(authority: Authority, request: Request) -> Response:
    if not authority.settings.registration:
        raise OAuthError("access_denied", "registration is switched off", status=403)
    return json_response(register_client(authority, _json(request)), status=201)


async def introspect(authority: Authority, request: Request) -> Response:
    form = read_form(request, authority.settings.bounds.fields)
    client = await authenticate(authority, request, form)
    return json_response(issued_token.introspect(authority, client, form.require("token")))


async def revoke(authority: Authority, request: Request) -> Response:
    form = read_form(request, authority.settings.bounds.fields)
    client = await authenticate(authority, request, form)
    issued_token.revoke(authority, client, form.require("token"))
    return Response(status=200, headers=NOT_STORED)


async def mint(authority: Authority, request: Request) -> Response:
    """Mint any token for a program on this machine. The body holds the arguments of `Authority.mint`."""
    arguments = _local_json(authority, request)
    try:
        options = msgspec.convert(arguments, MintRequest)
        return json_response({"access_token": authority.mint(**msgspec.structs.asdict(options))})
    except ValueError as error:
        raise OAuthError("invalid_request", str(error)) from None
    except (KeyError, TypeError):
        raise OAuthError("invalid_request", "the fault cannot be applied to these claims") from None


class MintRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    subject: str = "developer"
    audience: str | list[str] = []
    scopes: list[str] = []
    client_id: str = "minted"
    lifetime: Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)] | None = None
    thumbprint: str | None = None
    fault: str | None = None
    claims: dict[str, Any] = {}
    header: dict[str, Any] = {}


async def rotate(authority: Authority, request: Request) -> Response:
    _local_json(authority, request)
    return json_response({"kid": authority.rotate()})


def _json(request: Request) -> Any:
    if request.media_type != "application/json":
        raise OAuthError("invalid_request", "send application/json")
    try:
        return msgspec.json.decode(request.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise OAuthError("invalid_request", "the body is not JSON") from None


def _local_json(authority: Authority, request: Request) -> Any:
    """Accept only programs on this machine: a browser would send an Origin, and DNS rebinding another
    Host."""
    local = _is_loopback(request.peer) and _is_loopback_host(request.header("host") or "")
    if not authority.settings.dev_mint or not local or request.every("origin"):
        raise OAuthError("not_found", "not found", status=404)
    return _json(request)


def _is_loopback_host(host: str) -> bool:
    try:
        return urlsplit(f"//{host}").hostname in LOOPBACK
    except ValueError:
        return False


def _is_loopback(peer: str | None) -> bool:
    try:
        return peer is not None and ipaddress.ip_address(peer).is_loopback
    except ValueError:
        return False

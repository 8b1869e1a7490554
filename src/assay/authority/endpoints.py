"""The endpoints: each reads a request, lets others decide, and makes a response of it."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable
from html import escape
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

import msgspec

from .afterwards import introspect, revoke
from .authorize import client_and_redirect, grant_wish, read_wish, refuse_wish
from .client_auth import authenticate
from .clients import register_client
from .consent import ask, page, redeem, refusal_page
from .dpop import proved_key
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
from .record import Wish
from .refusal import NotRedirected, Refused
from .settings import LOOPBACK

if TYPE_CHECKING:
    from .authority import Authority

Endpoint = Callable[["Authority", Request], Awaitable[Response]]
FRESH: Final = (("cache-control", "public, max-age=60"),)
"""Keys change: whoever keeps them should look again soon."""


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
    except NotRedirected as refused:
        return refusal_page(refused)
    except Refused as refused:
        return refusal_page(NotRedirected(refused.error, refused.description))
    try:
        wish = read_wish(authority.settings, client, redirect, form)
    except Refused as refused:
        return refuse_wish(authority, redirect, refused, _state(form))
    if authority.settings.auto_approve:
        return grant_wish(authority, wish, _user(authority, form.every("login_hint")))
    return ask(authority, request, client, wish)


def _state(form: Form) -> str | None:
    """To be repeated even where the request was refused; not if it came twice."""
    found = form.every("state")
    return found[0] if len(found) == 1 else None


def _user(authority: Authority, named: tuple[str, ...]) -> str:
    known = authority.settings.users
    return named[0] if len(named) == 1 and named[0] in known else known[0]


async def consent(authority: Authority, request: Request) -> Response:
    try:
        form = read_form(request, authority.settings.bounds.fields)
        wish = redeem(authority, request, form.need("ticket"))
    except Refused as refused:
        return refusal_page(NotRedirected(refused.error, refused.description))
    if form.every("decision") != ("allow",):
        denied = Refused("access_denied", "the user said no")
        return refuse_wish(authority, wish.redirect, denied, wish.state)
    return grant_wish(authority, _as_ticked(wish, form), _user(authority, form.every("user")))


def _as_ticked(wish: Wish, form: Form) -> Wish:
    ticked = form.every("scope")
    return msgspec.structs.replace(wish, scopes=tuple(scope for scope in wish.scopes if scope in ticked))


async def token(authority: Authority, request: Request) -> Response:
    form = read_form(request, authority.settings.bounds.fields)
    client = await authenticate(authority, request, form)
    answered = exchange(authority, client, form, proved_key(authority, request))
    headers = FRESH if "cached-token" in authority.faults else NOT_STORED
    nonce = (("dpop-nonce", authority.nonces.current()),) if authority.settings.dpop_nonce else ()
    return json_response(answered, headers=(*headers, *nonce))


async def register(authority: Authority, request: Request) -> Response:
    if not authority.settings.registration:
        raise Refused("access_denied", "registration is switched off", status=403)
    return json_response(register_client(authority, _json(request)), status=201)


async def look_into(authority: Authority, request: Request) -> Response:
    form = read_form(request, authority.settings.bounds.fields)
    client = await authenticate(authority, request, form)
    return json_response(introspect(authority, client, form.need("token")))


async def take_back(authority: Authority, request: Request) -> Response:
    form = read_form(request, authority.settings.bounds.fields)
    client = await authenticate(authority, request, form)
    revoke(authority, client, form.need("token"))
    return Response(status=200, headers=NOT_STORED)


async def mint(authority: Authority, request: Request) -> Response:
    """Any token, for a program on this machine. The body has the arguments of `Authority.mint`."""
    arguments = _local_json(authority, request)
    try:
        wish = msgspec.convert(arguments, Minting)
        return json_response({"access_token": authority.mint(**msgspec.structs.asdict(wish))})
    except ValueError as error:
        raise Refused("invalid_request", str(error)) from None
    except (KeyError, TypeError):
        raise Refused("invalid_request", "the fault does not go with these claims") from None


class Minting(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
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
        raise Refused("invalid_request", "send application/json")
    try:
        return msgspec.json.decode(request.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refused("invalid_request", "the body is no JSON") from None


def _local_json(authority: Authority, request: Request) -> Any:
    """Of a program on this machine, which is no page in a browser, nor one under another name of ours."""
    local = _is_here(request.peer) and _is_own_name(request.header("host") or "")
    if not authority.settings.dev_mint or not local or request.every("origin"):
        raise Refused("not_found", "there is nothing here", status=404)
    return _json(request)


def _is_own_name(host: str) -> bool:
    try:
        return urlsplit(f"//{host}").hostname in LOOPBACK
    except ValueError:
        return False


def _is_here(peer: str | None) -> bool:
    try:
        return peer is not None and ipaddress.ip_address(peer).is_loopback
    except ValueError:
        return False

"""The authorization endpoint: a request becomes a wish, the wish is granted or not, the client is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from .clients import find_client
from .description import redirect_problem, same_redirect
from .http import Form, redirect_response
from .record import Client, Code, Wish, digest, new_secret
from .refusal import NotRedirected, Refused
from .settings import SCOPE, SPECIAL_SCOPES, Settings

if TYPE_CHECKING:
    from .authority import Authority
    from .http import Response

CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
"""SHA-256, in base64url."""
RESOURCE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]{1,2000}")
"""An absolute URI without a fragment, with a bound."""


async def client_and_redirect(authority: Authority, form: Form) -> tuple[Client, str]:
    """Who asks, and where the answer goes.

    Raises:
        NotRedirected: that is not known for sure, so the answer goes nowhere.
    """
    try:
        client = await find_client(authority, form.need("client_id"))
        return client, _redirect(authority, client, form.one("redirect_uri"))
    except Refused as refused:
        raise NotRedirected(refused.error, refused.description) from None


def _redirect(authority: Authority, client: Client, given: str | None) -> str:
    if given is None:
        if len(client.redirects) != 1:
            raise Refused("invalid_request", "redirect_uri is missing")
        return client.redirects[0]
    if "no-redirect-check" in authority.faults and redirect_problem(given) is None:
        return given
    if not any(same_redirect(given, registered) for registered in client.redirects):
        raise Refused("invalid_request", "redirect_uri is not one that the client has registered")
    return given


def read_wish(settings: Settings, client: Client, redirect: str, form: Form) -> Wish:
    """
    Raises:
        Refused: there is something about this request that the client must change.
    """
    if form.need("response_type") != "code":
        raise Refused("unsupported_response_type", "response_type can only be code")
    if "authorization_code" not in client.grants:
        raise Refused("unauthorized_client", "this client may not use authorization codes")
    for name in ("request", "request_uri"):
        if form.one(name) is not None:
            raise Refused(f"{name}_not_supported", f"the parameter {name} is not supported")
    if form.one("code_challenge_method") != "S256":
        raise Refused("invalid_request", "PKCE is required: code_challenge_method=S256")
    challenge = form.need("code_challenge")
    if not CHALLENGE.fullmatch(challenge):
        raise Refused("invalid_request", "code_challenge is not a SHA-256 in base64url")
    return Wish(
        client_id=client.id,
        redirect=redirect,
        scopes=wanted_scopes(settings, client, form, consented=True),
        resources=wanted_resources(settings, form),
        challenge=challenge,
        state=form.one("state"),
        nonce=form.one("nonce"),
        thumbprint=form.one("dpop_jkt"),
    )


def wanted_scopes(
    settings: Settings, client: Client, form: Form, *, consented: bool = False
) -> tuple[str, ...]:
    """What is asked for; where nothing is, all that the authority was told of and the client may have.

    Clients register for what they know of then. Where a person consents, that person decides on more: a
    server may ask for another scope later.
    """
    text = form.one("scope")
    allowed = {*settings.scopes, *SPECIAL_SCOPES} if settings.scopes else None
    own = None if client.scopes is None else {*client.scopes, *SPECIAL_SCOPES}
    if text is None:
        return tuple(scope for scope in settings.scopes or client.scopes or () if own is None or scope in own)
    scopes = tuple(dict.fromkeys(text.split(" ")))
    for number, scope in enumerate(scopes, 1):
        known = allowed is None or scope in allowed
        mine = own is None or scope in own or consented
        if scope in settings.refused_scopes:
            raise Refused(settings.refused_scopes[scope], f"scope number {number} is never granted here")
        if not SCOPE.fullmatch(scope) or not (known and mine):
            # Not repeated: whoever mixes up parameters would have a secret in an error.
            raise Refused("invalid_scope", f"scope number {number} is none that this client may have")
    if len(scopes) > settings.bounds.items:
        raise Refused("invalid_scope", f"more than {settings.bounds.items} scopes")
    return scopes


def wanted_resources(settings: Settings, form: Form) -> tuple[str, ...]:
    """What the token is for (RFC 8707)."""
    resources = tuple(dict.fromkeys(form.every("resource")))
    if len(resources) > settings.bounds.items:
        raise Refused("invalid_target", f"more than {settings.bounds.items} resources")
    for resource in resources:
        if not RESOURCE.fullmatch(resource):
            raise Refused("invalid_target", "resource must be an absolute URI without a fragment")
        if settings.resources and resource not in settings.resources:
            raise Refused("invalid_target", "no tokens for this resource here")
    return resources


def grant_wish(authority: Authority, wish: Wish, subject: str) -> Response:
    """Send the client the code that it may exchange for tokens."""
    code = new_secret()
    expires = authority.now() + authority.settings.lifetimes.code
    authority.codes.put(digest(code), Code(wish=wish, subject=subject), expires)
    return answer(authority, wish.redirect, {"code": code}, wish.state)


def refuse_wish(authority: Authority, redirect: str, refused: Refused, state: str | None) -> Response:
    parameters = {"error": refused.error, "error_description": refused.description}
    return answer(authority, redirect, parameters, state)


def answer(authority: Authority, redirect: str, parameters: dict[str, Any], state: str | None) -> Response:
    """To the client, by way of the browser, with the name of who answers (RFC 9207)."""
    complete = {**parameters, **({} if state is None else {"state": state}), "iss": authority.issuer}
    spoilt = authority.faults.spoil("redirect", complete)
    parts = urlsplit(redirect)
    query = urlencode([*parse_qsl(parts.query, keep_blank_values=True), *spoilt.items()])
    return redirect_response(parts._replace(query=query).geturl())

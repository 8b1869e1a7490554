"""The authorization endpoint: validate the request, then send the code or an error to the client."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from .client_metadata import redirect_problem, same_redirect
from .clients import find_client
from .error import DisplayedError, OAuthError
from .http import Form, redirect_response
from .record import AuthorizationRequest, Client, Code, digest, new_secret
from .settings import SCOPE, SPECIAL_SCOPES, Settings

if TYPE_CHECKING:
    from .authority import Authority
    from .http import Response

CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
"""A SHA-256 digest in base64url."""
RESOURCE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]{1,2000}")
"""An absolute URI without a fragment (RFC 8707, 2), of bounded length."""


async def client_and_redirect(authority: Authority, form: Form) -> tuple[Client, str]:
    """The client, and the verified URL that the answer goes to.

    Raises:
        DisplayedError: Either is not certain. A redirect would make this an open redirector (RFC 6749,
        4.1.2.1).
    """
    try:
        client = await find_client(authority, form.require("client_id"))
        return client, _redirect(authority, client, form.get("redirect_uri"))
    except OAuthError as error:
        raise DisplayedError(error.error, error.description) from None


def _redirect(authority: Authority, client: Client, requested: str | None) -> str:
    if requested is None:
        if len(client.redirects) != 1:
            raise OAuthError("invalid_request", "redirect_uri is missing")
        return client.redirects[0]
    if "no-redirect-check" in authority.faults and redirect_problem(requested) is None:
        return requested
    # Exact comparison: a looser match would leak the code to another page (RFC 9700, 2.1).
    if not any(same_redirect(requested, registered) for registered in client.redirects):
        raise OAuthError("invalid_request", "redirect_uri is not registered for this client")
    return requested


def read_request(settings: Settings, client: Client, redirect: str, form: Form) -> AuthorizationRequest:
    """
    Raises:
        OAuthError: The client must change its request.
    """
    if form.require("response_type") != "code":
        raise OAuthError("unsupported_response_type", "response_type can only be code")
    if "authorization_code" not in client.grants:
        raise OAuthError("unauthorized_client", "this client may not use authorization codes")
    for name in ("request", "request_uri"):
        if form.get(name) is not None:
            raise OAuthError(f"{name}_not_supported", f"the parameter {name} is not supported")
    # Only S256: with `plain`, anyone who sees the request knows the verifier (RFC 7636, 7.2).
    if form.get("code_challenge_method") != "S256":
        raise OAuthError("invalid_request", "PKCE is required: code_challenge_method=S256")
    challenge = form.require("code_challenge")
    if not CHALLENGE.fullmatch(challenge):
        raise OAuthError("invalid_request", "code_challenge is not a SHA-256 in base64url")
    return AuthorizationRequest(
        client_id=client.id,
        redirect=redirect,
        scopes=requested_scopes(settings, client, form, consented=True),
        resources=requested_resources(settings, form),
        challenge=challenge,
        state=form.get("state"),
        nonce=form.get("nonce"),
        thumbprint=form.get("dpop_jkt"),
    )


def requested_scopes(
    settings: Settings, client: Client, form: Form, *, consented: bool = False
) -> tuple[str, ...]:
    """The requested scopes; by default all scopes of the authority that the client may have.

    Clients register the scopes that they know at that time. A person who consents may grant others: a server
    may
    require a new scope later.
    """
    text = form.get("scope")
    allowed = {*settings.scopes, *SPECIAL_SCOPES} if settings.scopes else None
    own = None if client.scopes is None else {*client.scopes, *SPECIAL_SCOPES}
    if text is None:
        return tuple(scope for scope in settings.scopes or client.scopes or () if own is None or scope in own)
    scopes = tuple(dict.fromkeys(text.split(" ")))
    for number, scope in enumerate(scopes, 1):
        known = allowed is None or scope in allowed
        permitted = own is None or scope in own or consented
        if scope in settings.refused_scopes:
            raise OAuthError(settings.refused_scopes[scope], f"scope number {number} is never granted")
        if not SCOPE.fullmatch(scope) or not (known and permitted):
            # The value is not repeated: a client that mixes up parameters would leak a secret in the error.
            raise OAuthError("invalid_scope", f"this client may not have scope number {number}")
    if len(scopes) > settings.bounds.items:
        raise OAuthError("invalid_scope", f"more than {settings.bounds.items} scopes")
    return scopes


def requested_resources(settings: Settings, form: Form) -> tuple[str, ...]:
    """The resources that the token is for (RFC 8707, 2)."""
    resources = tuple(dict.fromkeys(form.every("resource")))
    if len(resources) > settings.bounds.items:
        raise OAuthError("invalid_target", f"more than {settings.bounds.items} resources")
    for resource in resources:
        if not RESOURCE.fullmatch(resource):
            raise OAuthError("invalid_target", "resource must be an absolute URI without a fragment")
        if settings.resources and resource not in settings.resources:
            raise OAuthError("invalid_target", "no tokens are issued for this resource")
    return resources


def grant_request(authority: Authority, authorization: AuthorizationRequest, subject: str) -> Response:
    """Redirect to the client with a code that it can exchange for tokens."""
    code = new_secret()
    expires = authority.now() + authority.settings.lifetimes.code
    authority.codes.put(digest(code), Code(authorization=authorization, subject=subject), expires)
    return answer(authority, authorization.redirect, {"code": code}, authorization.state)


def refuse_request(authority: Authority, redirect: str, error: OAuthError, state: str | None) -> Response:
    parameters = {"error": error.error, "error_description": error.description}
    return answer(authority, redirect, parameters, state)


def answer(authority: Authority, redirect: str, parameters: dict[str, Any], state: str | None) -> Response:
    """Redirect to the client. `iss` names the issuer, against mix-up attacks (RFC 9207, 2)."""
    complete = {**parameters, **({} if state is None else {"state": state}), "iss": authority.issuer}
    sent = authority.faults.apply("redirect", complete)
    parts = urlsplit(redirect)
    query = urlencode([*parse_qsl(parts.query, keep_blank_values=True), *sent.items()])
    return redirect_response(parts._replace(query=query).geturl())

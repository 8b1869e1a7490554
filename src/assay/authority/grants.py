"""What a client exchanges for tokens, one function for each grant type, and the tokens."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from .authorize import wanted_resources, wanted_scopes
from .keys import base64url
from .record import Client, Code, Grant, Refresh, digest, new_secret
from .refusal import Refused

if TYPE_CHECKING:
    from .authority import Authority
    from .http import Form

VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def by_code(authority: Authority, client: Client, form: Form, thumbprint: str | None) -> dict[str, Any]:
    key = digest(form.need("code"))
    code = authority.codes.get(key)
    if code is None or code.wish.client_id != client.id:
        raise Refused("invalid_grant", "the code is unknown, has expired, or is another client's")
    if code.grant and "code-reuse" not in authority.faults:
        # Two have it: whoever was first may not be the right one (RFC 6749, 4.1.2).
        authority.grants.drop(code.grant)
        raise Refused("invalid_grant", "the code was used before: what came of it is revoked")
    _check_code(authority, code, form, thumbprint)
    grant = _new_grant(authority, client, code, _narrowed(authority, code.wish.resources, form), thumbprint)
    refresh = _first_refresh(authority, client, grant)
    if not authority.codes.swap(key, code, msgspec.structs.replace(code, grant=grant.id)):
        # Another process on the same records was quicker: nobody keeps anything, as above.
        quicker = authority.codes.get(key)
        for each in (grant.id, "" if quicker is None else quicker.grant):
            authority.grants.drop(each)
        raise Refused("invalid_grant", "the code was used before: what came of it is revoked")
    answered = tokens(authority, grant, grant.scopes, thumbprint, refresh)
    return answered | _id_token(authority, client, code, grant)


def _check_code(authority: Authority, code: Code, form: Form, thumbprint: str | None) -> None:
    if form.one("redirect_uri") not in (None, code.wish.redirect):
        raise Refused("invalid_grant", "redirect_uri is not the one of the authorization request")
    if code.wish.thumbprint not in (None, thumbprint):
        raise Refused("invalid_dpop_proof", "the code is bound to another key")
    if "no-pkce-check" not in authority.faults:
        verifier = form.need("code_verifier")
        if not VERIFIER.fullmatch(verifier) or not _fits(verifier, code.wish.challenge):
            raise Refused("invalid_grant", "code_verifier does not fit code_challenge")


def _fits(verifier: str, challenge: str) -> bool:
    hashed = base64url(hashlib.sha256(verifier.encode()).digest())
    return hmac.compare_digest(hashed.encode(), challenge.encode())


def _narrowed(authority: Authority, granted: tuple[str, ...], form: Form) -> tuple[str, ...]:
    """The resources of this token: some of those that were consented to."""
    wanted = wanted_resources(authority.settings, form)
    # Where none was named, consent was to the default.
    shown = granted or (authority.settings.audience or authority.issuer,)
    if set(wanted) - set(shown):
        raise Refused("invalid_target", "resource is not one of the authorization request")
    return wanted or granted


def _new_grant(
    authority: Authority, client: Client, code: Code, resources: tuple[str, ...], thumbprint: str | None
) -> Grant:
    lifetimes, wish = authority.settings.lifetimes, code.wish
    refreshed = _may_refresh(authority, client, wish.scopes)
    return Grant(
        id=new_secret(),
        client_id=client.id,
        subject=code.subject,
        scopes=wish.scopes,
        resources=resources,
        expires=authority.now() + (lifetimes.refresh if refreshed else lifetimes.access),
        # A client with credentials is bound by those (RFC 9449, 5).
        thumbprint=thumbprint if "none" in client.methods else None,
    )


def _may_refresh(authority: Authority, client: Client, scopes: tuple[str, ...]) -> bool:
    offered = "refresh_token" in authority.settings.grants
    return offered and ("refresh_token" in client.grants or "offline_access" in scopes)


def _first_refresh(authority: Authority, client: Client, grant: Grant) -> str | None:
    token = new_secret() if _may_refresh(authority, client, grant.scopes) else None
    current = "" if token is None else digest(token)
    authority.grants.put(grant.id, msgspec.structs.replace(grant, current=current), grant.expires)
    if token is not None:
        authority.refreshes.put(current, Refresh(grant=grant.id), grant.expires)
    return token


def by_refresh(authority: Authority, client: Client, form: Form, thumbprint: str | None) -> dict[str, Any]:
    given = form.need("refresh_token")
    known = authority.refreshes.get(digest(given))
    grant = None if known is None else authority.grants.get(known.grant)
    if grant is None or grant.client_id != client.id:
        raise Refused("invalid_grant", "the refresh token is unknown, has expired, or was revoked")
    if digest(given) != grant.current and "no-refresh-rotation" not in authority.faults:
        _reused(authority, grant)
    if grant.thumbprint not in (None, thumbprint):
        raise Refused("invalid_dpop_proof", "the refresh token is bound to another key")
    scopes = _fewer_scopes(grant, form)
    resources = _narrowed(authority, grant.resources, form)
    refresh = given if "no-refresh-rotation" in authority.faults else _rotated(authority, grant)
    return tokens(authority, msgspec.structs.replace(grant, resources=resources), scopes, thumbprint, refresh)


def _reused(authority: Authority, grant: Grant) -> None:
    """An old token came back: one of the two who have it is a thief, so neither keeps anything."""
    if "no-reuse-detection" not in authority.faults:
        authority.grants.drop(grant.id)
    raise Refused("invalid_grant", "the refresh token was used before: its whole family is revoked")


def _fewer_scopes(grant: Grant, form: Form) -> tuple[str, ...]:
    text = form.one("scope")
    scopes = grant.scopes if text is None else tuple(dict.fromkeys(text.split(" ")))
    if set(scopes) - set(grant.scopes):
        raise Refused("invalid_scope", "a refresh cannot add scopes")
    return scopes


def _rotated(authority: Authority, grant: Grant) -> str:
    token = new_secret()
    authority.refreshes.put(digest(token), Refresh(grant=grant.id), grant.expires)
    if not authority.grants.swap(grant.id, grant, msgspec.structs.replace(grant, current=digest(token))):
        _reused(authority, grant)  # somebody was quicker with the same token
    return token


def by_credentials(
    authority: Authority, client: Client, form: Form, thumbprint: str | None
) -> dict[str, Any]:
    """The client acts for itself, so it must be one that can prove who it is."""
    if "none" in client.methods:
        raise Refused("unauthorized_client", "a client without credentials cannot act for itself")
    grant = Grant(
        id="",
        client_id=client.id,
        subject=client.id,
        scopes=wanted_scopes(authority.settings, client, form),
        resources=wanted_resources(authority.settings, form),
        expires=0.0,
    )
    return tokens(authority, grant, grant.scopes, thumbprint, None)


def tokens(
    authority: Authority, grant: Grant, scopes: tuple[str, ...], thumbprint: str | None, refresh: str | None
) -> dict[str, Any]:
    bound = None if "dpop-ignored" in authority.faults else thumbprint
    claims = authority.claims(
        subject=grant.subject,
        client_id=grant.client_id,
        audience=grant.resources,
        scopes=scopes,
        thumbprint=bound,
    )
    return {
        "access_token": authority.give_out(claims, grant=grant.id),
        "token_type": "Bearer" if bound is None else "DPoP",
        "expires_in": claims["exp"] - claims["iat"],
        **({"scope": claims["scope"]} if scopes else {}),
        **({} if refresh is None else {"refresh_token": refresh}),
    }


def _id_token(authority: Authority, client: Client, code: Code, grant: Grant) -> dict[str, Any]:
    """Who consented, for a client that asked in the way of OpenID Connect."""
    if "openid" not in grant.scopes:
        return {}
    return {"id_token": authority.identify(grant.subject, client.id, nonce=code.wish.nonce)}

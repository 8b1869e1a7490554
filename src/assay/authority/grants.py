"""The grant types, one function each, and the tokens that they yield."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from .authorize import requested_resources, requested_scopes
from .error import OAuthError
from .keys import base64url
from .record import Client, Code, Grant, Refresh, digest, new_secret

if TYPE_CHECKING:
    from .authority import Authority
    from .http import Form

VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def by_code(authority: Authority, client: Client, form: Form, thumbprint: str | None) -> dict[str, Any]:
    key = digest(form.require("code"))
    code = authority.codes.get(key)
    if code is None or code.authorization.client_id != client.id:
        raise OAuthError("invalid_grant", "the code is unknown, expired, or for another client")
    if code.grant and "code-reuse" not in authority.faults:
        # A second use means that the code leaked, and the first may have been the thief's (RFC 6749, 4.1.2).
        authority.grants.drop(code.grant)
        raise OAuthError("invalid_grant", "the code was used before: its tokens are revoked")
    _check_code(authority, code, form, thumbprint)
    resources = _narrowed(authority, code.authorization.resources, form)
    grant = _new_grant(authority, client, code, resources, thumbprint)
    refresh = _first_refresh(authority, client, grant)
    if not authority.codes.swap(key, code, msgspec.structs.replace(code, grant=grant.id)):
        # Another process that shares the store was faster: revoke both, as above.
        current = authority.codes.get(key)
        for grant_id in (grant.id, "" if current is None else current.grant):
            authority.grants.drop(grant_id)
        raise OAuthError("invalid_grant", "the code was used before: its tokens are revoked")
    reply = tokens(authority, grant, grant.scopes, thumbprint, refresh)
    return reply | _id_token(authority, client, code, grant)


def _check_code(authority: Authority, code: Code, form: Form, thumbprint: str | None) -> None:
    if form.get("redirect_uri") not in (None, code.authorization.redirect):
        raise OAuthError("invalid_grant", "redirect_uri differs from the authorization request")
    # The code is bound to the DPoP key named by dpop_jkt (RFC 9449, 10).
    if code.authorization.thumbprint not in (None, thumbprint):
        raise OAuthError("invalid_dpop_proof", "the code is bound to another key")
    if "no-pkce-check" not in authority.faults:
        # PKCE: only the client that started the flow knows the verifier (RFC 7636, 4.6).
        verifier = form.require("code_verifier")
        if not VERIFIER.fullmatch(verifier) or not _matches(verifier, code.authorization.challenge):
            raise OAuthError("invalid_grant", "code_verifier does not match code_challenge")


def _matches(verifier: str, challenge: str) -> bool:
    computed = base64url(hashlib.sha256(verifier.encode()).digest())
    return hmac.compare_digest(computed.encode(), challenge.encode())


def _narrowed(authority: Authority, granted: tuple[str, ...], form: Form) -> tuple[str, ...]:
    """The resources of this token: a subset of those consented to (RFC 8707, 2.2)."""
    requested = requested_resources(authority.settings, form)
    # Without a resource in the request, the consent was for the default.
    consented = granted or (authority.settings.audience or authority.issuer,)
    if set(requested) - set(consented):
        raise OAuthError("invalid_target", "resource is not part of the authorization request")
    return requested or granted


def _new_grant(
    authority: Authority, client: Client, code: Code, resources: tuple[str, ...], thumbprint: str | None
) -> Grant:
    lifetimes, authorization = authority.settings.lifetimes, code.authorization
    refreshed = _may_refresh(authority, client, authorization.scopes)
    return Grant(
        id=new_secret(),
        client_id=client.id,
        subject=code.subject,
        scopes=authorization.scopes,
        resources=resources,
        expires=authority.now() + (lifetimes.refresh if refreshed else lifetimes.access),
        # A confidential client is bound by its credentials instead (RFC 9449, 5).
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
    token = form.require("refresh_token")
    known = authority.refreshes.get(digest(token))
    grant = None if known is None else authority.grants.get(known.grant)
    if grant is None or grant.client_id != client.id:
        raise OAuthError("invalid_grant", "the refresh token is unknown, has expired, or was revoked")
    if digest(token) != grant.current and "no-refresh-rotation" not in authority.faults:
        _reused(authority, grant)
    if grant.thumbprint not in (None, thumbprint):
        raise OAuthError("invalid_dpop_proof", "the refresh token is bound to another key")
    scopes = _fewer_scopes(grant, form)
    resources = _narrowed(authority, grant.resources, form)
    refresh = token if "no-refresh-rotation" in authority.faults else _rotated(authority, grant)
    return tokens(authority, msgspec.structs.replace(grant, resources=resources), scopes, thumbprint, refresh)


def _reused(authority: Authority, grant: Grant) -> None:
    """Revoke the grant: an old token was used again, so the thief or the client holds it (RFC 9700,
    4.14.2)."""
    if "no-reuse-detection" not in authority.faults:
        authority.grants.drop(grant.id)
    raise OAuthError("invalid_grant", "the refresh token was used before: the grant is revoked")


def _fewer_scopes(grant: Grant, form: Form) -> tuple[str, ...]:
    text = form.get("scope")
    scopes = grant.scopes if text is None else tuple(dict.fromkeys(text.split(" ")))
    if set(scopes) - set(grant.scopes):
        raise OAuthError("invalid_scope", "a refresh cannot add scopes")
    return scopes


def _rotated(authority: Authority, grant: Grant) -> str:
    token = new_secret()
    authority.refreshes.put(digest(token), Refresh(grant=grant.id), grant.expires)
    if not authority.grants.swap(grant.id, grant, msgspec.structs.replace(grant, current=digest(token))):
        _reused(authority, grant)  # a concurrent request used the same token
    return token


def by_credentials(
    authority: Authority, client: Client, form: Form, thumbprint: str | None
) -> dict[str, Any]:
    """The client acts on its own behalf, so it must be able to authenticate (RFC 6749, 4.4)."""
    if "none" in client.methods:
        raise OAuthError("unauthorized_client", "client_credentials requires a client that can authenticate")
    grant = Grant(
        id="",
        client_id=client.id,
        subject=client.id,
        scopes=requested_scopes(authority.settings, client, form),
        resources=requested_resources(authority.settings, form),
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
        "access_token": authority.issue(claims, grant=grant.id),
        "token_type": "Bearer" if bound is None else "DPoP",
        "expires_in": claims["exp"] - claims["iat"],
        **({"scope": claims["scope"]} if scopes else {}),
        **({} if refresh is None else {"refresh_token": refresh}),
    }


def _id_token(authority: Authority, client: Client, code: Code, grant: Grant) -> dict[str, Any]:
    """An ID token, if the scope `openid` was granted."""
    if "openid" not in grant.scopes:
        return {}
    return {"id_token": authority.identify(grant.subject, client.id, nonce=code.authorization.nonce)}

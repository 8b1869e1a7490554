"""Grants that rest on what somebody else has signed.

An identity provider exchanges a person's ID token for an ID-JAG: a grant that another authority takes
(RFC 8693). That one gives access for it, or for the token of a workload (RFC 7523).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from .assertion import NotBelieved, believed, read
from .authorize import wanted_resources, wanted_scopes
from .grants import tokens
from .record import JWT_BEARER, Client, Grant
from .refusal import Refused
from .settings import Trusted

if TYPE_CHECKING:
    from .authority import Authority
    from .http import Form

ID_TOKEN: Final = "urn:ietf:params:oauth:token-type:id_token"
ID_JAG: Final = "urn:ietf:params:oauth:token-type:id-jag"
ID_JAG_TYPE: Final = "oauth-id-jag+jwt"


def by_identity(authority: Authority, client: Client, form: Form, thumbprint: str | None) -> dict[str, Any]:
    """A person's ID token for a grant at another authority, which knows the client by a name of its own."""
    for name, only in (("requested_token_type", ID_JAG), ("subject_token_type", ID_TOKEN)):
        if form.need(name) != only:
            raise Refused("invalid_request", f"{name} can only be {only}")
    resources = wanted_resources(authority.settings, form)
    if not resources:
        raise Refused("invalid_request", "the parameter resource is missing")
    claims = authority.claims(
        subject=_identified(authority, client, form.need("subject_token")),
        client_id=client.id_elsewhere or client.id,
        audience=[form.need("audience")],
        scopes=wanted_scopes(authority.settings, client, form),
    )
    scope = {name: text for name, text in (("scope", claims.pop("scope")),) if text}
    granted = {**claims, **scope, "resource": resources[0] if len(resources) == 1 else resources}
    return {
        "access_token": authority.sign(granted, ID_JAG_TYPE, authority.faults),
        "issued_token_type": ID_JAG,
        "token_type": "N_A",
        "expires_in": claims["exp"] - claims["iat"],
        **scope,
    }


def _identified(authority: Authority, client: Client, token: str) -> str:
    """Who the ID token is about. A bad one is an invalid request, and no invalid grant (RFC 8693, 2.2.2)."""
    own = Trusted(issuer=authority.issuer, jwks=authority.keys.jwks(), type="JWT")
    try:
        claims = _vouched(authority, token, (own, *authority.settings.trusted), (client.id,))
        return _subject(claims)
    except NotBelieved as problem:
        raise Refused("invalid_request", f"subject_token {problem}") from None


def by_assertion(authority: Authority, client: Client, form: Form, thumbprint: str | None) -> dict[str, Any]:
    """Access for an ID-JAG, or for a workload's own token. It may come again: there is nothing to refresh."""
    settings = authority.settings
    try:
        claims = _vouched(authority, form.need("assertion"), settings.trusted, settings.names)
        subject, granted = _subject(claims), _resources(claims)
    except NotBelieved as problem:
        raise Refused("invalid_grant", f"assertion {problem}") from None
    if claims.get("client_id", client.id) != client.id:
        raise Refused("invalid_grant", "assertion is for another client: client_id")
    if settings.resources and set(granted) - set(settings.resources):
        raise Refused("invalid_grant", "assertion is for a resource that is not known here")
    wanted = wanted_resources(settings, form)
    if granted and set(wanted) - set(granted):
        raise Refused("invalid_target", "resource is not one of the assertion's")
    scopes = _scopes(authority, client, form, claims)
    grant = Grant(
        id="",
        client_id=client.id,
        subject=subject,
        scopes=scopes,
        resources=wanted or granted,
        expires=0.0,
    )
    return tokens(authority, grant, scopes, thumbprint, None)


def bearer(authority: Authority, form: Form) -> str | None:
    """Who brings an assertion: a request need not say (RFC 7521, 4.1) where the settings do."""
    token = form.one("assertion")
    if form.one("grant_type") != JWT_BEARER or token is None:
        return None
    try:
        claimed = read(token, authority.settings.bounds.token_chars)
        return _voucher(claimed.claims, authority.settings.trusted).client_id or None
    except NotBelieved:
        return None


def _vouched(
    authority: Authority, token: str, trusted: Iterable[Trusted], names: Iterable[str]
) -> dict[str, Any]:
    """The claims of a token that one of these has signed."""
    header, claims = read(token, authority.settings.bounds.token_chars)
    voucher = _voucher(claims, trusted)
    if voucher.type not in (None, header.get("typ")):
        raise NotBelieved(f"is not of the type {voucher.type}")
    sure = believed(authority, token, voucher.jwks, names)
    missing = {"client_id", "resource"} - sure.keys() if header.get("typ") == ID_JAG_TYPE else None
    if missing:
        raise NotBelieved(f"has no {min(missing)}")
    return sure


def _voucher(claims: dict[str, Any], trusted: Iterable[Trusted]) -> Trusted:
    for each in trusted:
        if each.issuer == claims.get("iss"):
            return each
    raise NotBelieved("is of an issuer that is not trusted here")


def _subject(claims: dict[str, Any]) -> str:
    subject = claims.get("sub")
    if not isinstance(subject, str) or not subject:
        raise NotBelieved("has no sub")
    return subject


def _resources(claims: dict[str, Any]) -> tuple[str, ...]:
    resource = claims.get("resource", [])
    listed = [resource] if isinstance(resource, str) else resource
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise NotBelieved("has a resource that is no text")
    return tuple(listed)


def _scopes(authority: Authority, client: Client, form: Form, claims: dict[str, Any]) -> tuple[str, ...]:
    """What the request asks for, within what the assertion allows, if that says anything."""
    allowed = claims.get("scope")
    if not isinstance(allowed, str) or not allowed:
        return wanted_scopes(authority.settings, client, form)
    within = tuple(allowed.split())
    if form.one("scope") is None:
        return within
    wanted = wanted_scopes(authority.settings, client, form)
    if set(wanted) - set(within):
        raise Refused("invalid_scope", "scope is more than the assertion's")
    return wanted

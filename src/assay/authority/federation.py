"""Grants based on a token that another party signed.

An identity provider exchanges a person's ID token for an ID-JAG, an authorization grant for another authority
(RFC 8693). That authority issues access tokens for it, or for the token of a workload (RFC 7523).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from .assertion import InvalidAssertion, read_assertion, verify_assertion
from .authorize import requested_resources, requested_scopes
from .error import OAuthError
from .grants import tokens
from .record import JWT_BEARER, Client, Grant
from .settings import Trusted

if TYPE_CHECKING:
    from .authority import Authority
    from .http import Form

ID_TOKEN: Final = "urn:ietf:params:oauth:token-type:id_token"
ID_JAG: Final = "urn:ietf:params:oauth:token-type:id-jag"
ID_JAG_TYPE: Final = "oauth-id-jag+jwt"


def by_identity(authority: Authority, client: Client, form: Form, thumbprint: str | None) -> dict[str, Any]:
    """Exchange a person's ID token for a grant at another authority, where the client may have another id."""
    for name, only in (("requested_token_type", ID_JAG), ("subject_token_type", ID_TOKEN)):
        if form.require(name) != only:
            raise OAuthError("invalid_request", f"{name} can only be {only}")
    resources = requested_resources(authority.settings, form)
    if not resources:
        raise OAuthError("invalid_request", "the parameter resource is missing")
    claims = authority.claims(
        subject=_identify(authority, client, form.require("subject_token")),
        client_id=client.id_elsewhere or client.id,
        audience=[form.require("audience")],
        scopes=requested_scopes(authority.settings, client, form),
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


def _identify(authority: Authority, client: Client, token: str) -> str:
    """The subject of the ID token. An invalid one is an invalid request, not an invalid grant (RFC 8693,
    2.2.2)."""
    own = Trusted(issuer=authority.issuer, jwks=authority.keys.jwks(), type="JWT")
    try:
        claims = _verified_claims(authority, token, (own, *authority.settings.trusted), (client.id,))
        return _subject(claims)
    except InvalidAssertion as problem:
        raise OAuthError("invalid_request", f"subject_token {problem}") from None


def by_assertion(authority: Authority, client: Client, form: Form, thumbprint: str | None) -> dict[str, Any]:
    """Access for an ID-JAG or for a workload's token. No refresh token is issued: the assertion can be sent
    again."""
    settings = authority.settings
    try:
        claims = _verified_claims(authority, form.require("assertion"), settings.trusted, settings.audiences)
        subject, granted = _subject(claims), _resources(claims)
    except InvalidAssertion as problem:
        raise OAuthError("invalid_grant", f"assertion {problem}") from None
    # An assertion issued to another client may be stolen.
    if claims.get("client_id", client.id) != client.id:
        raise OAuthError("invalid_grant", "assertion is for another client: client_id")
    if settings.resources and set(granted) - set(settings.resources):
        raise OAuthError("invalid_grant", "assertion is for an unknown resource")
    requested = requested_resources(settings, form)
    if granted and set(requested) - set(granted):
        raise OAuthError("invalid_target", "the assertion does not allow this resource")
    scopes = _scopes(authority, client, form, claims)
    grant = Grant(
        id="",
        client_id=client.id,
        subject=subject,
        scopes=scopes,
        resources=requested or granted,
        expires=0.0,
    )
    return tokens(authority, grant, scopes, thumbprint, None)


def assumed_client(authority: Authority, form: Form) -> str | None:
    """The client of an assertion, from the settings: the request need not name it (RFC 7521, 4.1)."""
    token = form.get("assertion")
    if form.get("grant_type") != JWT_BEARER or token is None:
        return None
    try:
        unverified = read_assertion(token, authority.settings.bounds.token_chars)
        return _issuer_of(unverified.claims, authority.settings.trusted).client_id or None
    except InvalidAssertion:
        return None


def _verified_claims(
    authority: Authority, token: str, trusted: Iterable[Trusted], audiences: Iterable[str]
) -> dict[str, Any]:
    """The claims of a token that one of these issuers signed."""
    header, unverified = read_assertion(token, authority.settings.bounds.token_chars)
    issuer = _issuer_of(unverified, trusted)
    # An explicit type keeps another JWT of the issuer from serving as an assertion (RFC 8725, 3.11).
    if issuer.type not in (None, header.get("typ")):
        raise InvalidAssertion(f"is not of the type {issuer.type}")
    claims = verify_assertion(authority, token, issuer.jwks, audiences)
    missing = {"client_id", "resource"} - claims.keys() if header.get("typ") == ID_JAG_TYPE else None
    if missing:
        raise InvalidAssertion(f"has no {min(missing)}")
    return claims


def _issuer_of(claims: dict[str, Any], trusted: Iterable[Trusted]) -> Trusted:
    for issuer in trusted:
        if issuer.issuer == claims.get("iss"):
            return issuer
    raise InvalidAssertion("is from an untrusted issuer")


def _subject(claims: dict[str, Any]) -> str:
    subject = claims.get("sub")
    if not isinstance(subject, str) or not subject:
        raise InvalidAssertion("has no sub")
    return subject


def _resources(claims: dict[str, Any]) -> tuple[str, ...]:
    resource = claims.get("resource", [])
    listed = [resource] if isinstance(resource, str) else resource
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise InvalidAssertion("has a resource that is not a string")
    return tuple(listed)


def _scopes(authority: Authority, client: Client, form: Form, claims: dict[str, Any]) -> tuple[str, ...]:
    """The requested scopes, which must be within those of the assertion, if it names any."""
    allowed = claims.get("scope")
    if not isinstance(allowed, str) or not allowed:
        return requested_scopes(authority.settings, client, form)
    within = tuple(allowed.split())
    if form.get("scope") is None:
        return within
    requested = requested_scopes(authority.settings, client, form)
    if set(requested) - set(within):
        raise OAuthError("invalid_scope", "the assertion does not allow this scope")
    return requested

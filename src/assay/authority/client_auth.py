"""Client authentication: none, a secret in the header or the form, or a signed assertion."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote_plus

from .assertion import InvalidAssertion, read_assertion, verify_assertion
from .clients import fetch_document, find_client
from .error import OAuthError, invalid_client
from .federation import assumed_client
from .record import Client, UseMarker, digest, matches_digest

if TYPE_CHECKING:
    from .authority import Authority
    from .http import Form, Request

ASSERTION: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class Credential(NamedTuple):
    method: str
    client_id: str
    proof: str = ""


async def authenticate(authority: Authority, request: Request, form: Form) -> Client:
    """
    Raises:
        OAuthError: The client is unknown, or its credentials are wrong.
    """
    credential = read_credential(authority, request, form)
    client = await find_client(authority, credential.client_id)
    if credential.method not in client.methods:
        raise invalid_client(f"this client does not authenticate with {credential.method}")
    await PROOFS[credential.method](authority, client, credential.proof)
    return client


def read_credential(authority: Authority, request: Request, form: Form) -> Credential:
    """The one method that the client used. Two at once are refused (RFC 6749, 2.3)."""
    header, secret, assertion = request.header("authorization"), form.get("client_secret"), _assertion(form)
    if sum(credential is not None for credential in (header, secret, assertion)) > 1:
        raise OAuthError("invalid_request", "use only one method of client authentication")
    client_id = form.get("client_id")
    if header is not None:
        return _same(client_id, _basic(header))
    if assertion is not None:
        bound = authority.settings.bounds.token_chars
        return _same(client_id, Credential("private_key_jwt", _claimed_client(assertion, bound), assertion))
    client_id = client_id or assumed_client(authority, form)
    if client_id is None:
        raise invalid_client("the request names no client: client_id")
    if secret is None:
        return Credential("none", client_id)
    return Credential("client_secret_post", client_id, secret)


def _same(client_id: str | None, credential: Credential) -> Credential:
    if client_id not in (None, credential.client_id):
        raise OAuthError("invalid_request", "client_id and the client's credentials differ")
    return credential


def _basic(header: str) -> Credential:
    scheme, _, encoded = header.partition(" ")
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode()
    except ValueError:
        text = ""
    client_id, colon, secret = text.partition(":")
    if scheme.lower() != "basic" or not colon:
        raise invalid_client("the Authorization header is not Basic authentication")
    # Both are form-encoded first (RFC 6749, 2.3.1).
    return Credential("client_secret_basic", unquote_plus(client_id), unquote_plus(secret))


def _assertion(form: Form) -> str | None:
    kind, assertion = form.get("client_assertion_type"), form.get("client_assertion")
    if (kind is None) != (assertion is None) or kind not in (None, ASSERTION):
        raise OAuthError("invalid_request", f"client_assertion requires client_assertion_type={ASSERTION}")
    return assertion


def _claimed_client(assertion: str, bound: int) -> str:
    """The client that an assertion names. Its signature is verified once the client's keys are known."""
    try:
        claims = read_assertion(assertion, bound).claims
    except InvalidAssertion as problem:
        raise invalid_client(f"client_assertion {problem}") from None
    subject = claims.get("sub")
    if not isinstance(subject, str) or claims.get("iss") != subject:
        raise invalid_client("iss and sub of client_assertion must both be the client id")
    return subject


async def _by_nothing(authority: Authority, client: Client, proof: str) -> None:
    """A public client, which proves itself with the code verifier."""


async def _by_secret(authority: Authority, client: Client, proof: str) -> None:
    if not client.secret or not matches_digest(proof, client.secret):
        raise invalid_client("the client secret is wrong")


async def _by_signature(authority: Authority, client: Client, proof: str) -> None:
    """A signed assertion for this authority, used once (RFC 7523, 3; OpenID Connect Core, 9)."""
    jwks = client.jwks
    if jwks is None and client.jwks_uri is not None:
        jwks = await fetch_document(authority, client.jwks_uri)
    settings = authority.settings
    try:
        claims = verify_assertion(
            authority, proof, jwks or {}, settings.audiences, settings.lifetimes.assertion
        )
    except InvalidAssertion as problem:
        raise invalid_client(f"client_assertion {problem}") from None
    # jti is optional (RFC 7523, 3); without it the whole assertion is the key.
    key = digest(f"{client.id} {claims.get('jti', proof)}")
    if not authority.used.add(f"assertion {key}", UseMarker(), claims["exp"]):
        raise invalid_client("this client_assertion was used before")


PROOFS: Final[dict[str, Callable[[Authority, Client, str], Awaitable[None]]]] = {
    "none": _by_nothing,
    "client_secret_basic": _by_secret,
    "client_secret_post": _by_secret,
    "private_key_jwt": _by_signature,
}

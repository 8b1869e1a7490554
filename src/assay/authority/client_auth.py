"""How a client proves who it is: by nothing, by a secret in two places, or by a signature of its own."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote_plus

from .assertion import NotBelieved, believed, read
from .clients import fetch_document, find_client
from .federation import bearer
from .record import Client, Once, digest, is_secret
from .refusal import Refused, unknown_client

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
        Refused: nobody is there, or not the one it says.
    """
    credential = read_credential(authority, request, form)
    client = await find_client(authority, credential.client_id)
    if credential.method not in client.methods:
        raise unknown_client(f"this client does not authenticate by {credential.method}")
    await PROOFS[credential.method](authority, client, credential.proof)
    return client


def read_credential(authority: Authority, request: Request, form: Form) -> Credential:
    """The one way that the client used. Two at once are refused (RFC 6749, 2.3)."""
    header, secret, assertion = request.header("authorization"), form.one("client_secret"), _assertion(form)
    if sum(given is not None for given in (header, secret, assertion)) > 1:
        raise Refused("invalid_request", "a client authenticates in one way only")
    named = form.one("client_id")
    if header is not None:
        return _same(named, _basic(header))
    if assertion is not None:
        bound = authority.settings.bounds.token_chars
        return _same(named, Credential("private_key_jwt", _claimed_client(assertion, bound), assertion))
    named = named or bearer(authority, form)
    if named is None:
        raise unknown_client("the client does not say who it is")
    return Credential("none", named) if secret is None else Credential("client_secret_post", named, secret)


def _same(named: str | None, credential: Credential) -> Credential:
    if named not in (None, credential.client_id):
        raise Refused("invalid_request", "client_id and the client's credentials differ")
    return credential


def _basic(header: str) -> Credential:
    scheme, _, encoded = header.partition(" ")
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode()
    except ValueError:
        text = ""
    client_id, colon, secret = text.partition(":")
    if scheme.lower() != "basic" or not colon:
        raise unknown_client("not the header of client_secret_basic")
    # Both are encoded like parameters first (RFC 6749, 2.3.1).
    return Credential("client_secret_basic", unquote_plus(client_id), unquote_plus(secret))


def _assertion(form: Form) -> str | None:
    kind, assertion = form.one("client_assertion_type"), form.one("client_assertion")
    if (kind is None) != (assertion is None) or kind not in (None, ASSERTION):
        raise Refused("invalid_request", f"client_assertion comes with client_assertion_type={ASSERTION}")
    return assertion


def _claimed_client(assertion: str, bound: int) -> str:
    """Who an assertion says it is of. Its signature is looked at when that client is known."""
    try:
        claims = read(assertion, bound).claims
    except NotBelieved as problem:
        raise unknown_client(f"client_assertion {problem}") from None
    subject = claims.get("sub")
    if not isinstance(subject, str) or claims.get("iss") != subject:
        raise unknown_client("iss and sub of client_assertion must both be the client's id")
    return subject


async def _by_nothing(authority: Authority, client: Client, proof: str) -> None:
    """A public client: the code verifier is its proof."""


async def _by_secret(authority: Authority, client: Client, proof: str) -> None:
    if not client.secret or not is_secret(proof, client.secret):
        raise unknown_client("the client's secret is not this one")


async def _by_signature(authority: Authority, client: Client, proof: str) -> None:
    """An assertion for us, signed with a published key of the client (RFC 7523), and not seen before."""
    jwks = client.jwks
    if jwks is None and client.jwks_uri is not None:
        jwks = await fetch_document(authority, client.jwks_uri)
    settings = authority.settings
    try:
        claims = believed(authority, proof, jwks or {}, settings.names, settings.lifetimes.assertion)
    except NotBelieved as problem:
        raise unknown_client(f"client_assertion {problem}") from None
    # One that has no name of its own (RFC 7523, 3: it need not) is known by all of it.
    seen = digest(f"{client.id} {claims.get('jti', proof)}")
    if not authority.once.add(f"assertion {seen}", Once(), claims["exp"]):
        raise unknown_client("this client_assertion was used before")


PROOFS: Final[dict[str, Callable[[Authority, Client, str], Awaitable[None]]]] = {
    "none": _by_nothing,
    "client_secret_basic": _by_secret,
    "client_secret_post": _by_secret,
    "private_key_jwt": _by_signature,
}

"""Who a client is: named by whoever runs the authority, registered, or described at its own address."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from .description import Description, check_description, scopes_of, settle
from .fetch import NotFetched
from .record import SECRET_METHODS, Client, Document, digest, new_secret
from .refusal import Refused, unknown_client
from .settings import LOOPBACK

if TYPE_CHECKING:
    from .authority import Authority


async def find_client(authority: Authority, client_id: str) -> Client:
    """
    Raises:
        Refused: there is no such client.
    """
    client = authority.preregistered.get(client_id) or authority.clients.get(digest(client_id))
    if client is not None:
        return client
    if authority.settings.documents and is_document_address(client_id, authority.settings.loopback_documents):
        return described_client(await fetch_document(authority, client_id), client_id, authority)
    raise unknown_client("unknown client")


def is_document_address(client_id: str, loopback: bool) -> bool:
    """An https URL with a path, and nothing in it that two readers could understand differently."""
    try:
        parts = urlsplit(client_id)
        scheme, host = parts.scheme, parts.hostname
        _ = parts.port
    except ValueError:
        return False
    local = loopback and scheme == "http" and host in LOOPBACK
    plain = parts.username is None and "#" not in client_id and parts.path not in ("", "/")
    return (scheme == "https" or local) and plain and not {".", ".."} & set(parts.path.split("/"))


async def fetch_document(authority: Authority, url: str) -> dict[str, Any]:
    """What is at that address: as the settings say, or from memory while it may be kept."""
    if url in authority.settings.published:
        return authority.settings.published[url]
    kept = authority.documents.get(digest(url))
    if kept is not None:
        return kept.content
    try:
        content, lifetime = await authority.fetch(url)
    except NotFetched as error:
        raise Refused("invalid_client_metadata", f"{url}: {error}") from None
    seconds = authority.settings.lifetimes.document if lifetime is None else lifetime
    authority.documents.put(digest(url), Document(content=content), authority.now() + seconds)
    return content


def described_client(document: dict[str, Any], url: str, authority: Authority) -> Client:
    """
    Raises:
        Refused: the document does not describe the client whose address it has.
    """
    said = read_description(document)
    if said.client_id != url:
        raise Refused("invalid_client_metadata", "client_id is not the document's own address")
    if not said.client_name or not said.redirect_uris:
        raise Refused("invalid_client_metadata", "client_name or redirect_uris is missing")
    method = said.token_endpoint_auth_method or "none"
    if method in SECRET_METHODS or "client_secret" in document:
        raise Refused("invalid_client_metadata", "a public document cannot rest on a secret")
    settle(said, authority.settings)
    said.token_endpoint_auth_method = method  # nobody could tell it of another
    check_description(said, authority.settings)
    return client_of(said, url)


def read_description(document: Any) -> Description:
    try:
        return msgspec.convert(document, Description)
    except msgspec.ValidationError as error:
        raise Refused("invalid_client_metadata", str(error)) from None


def client_of(said: Description, client_id: str, secret: str = "") -> Client:
    return Client(
        id=client_id,
        secret=digest(secret) if secret else "",
        methods=(said.token_endpoint_auth_method or "client_secret_basic",),
        name=said.client_name,
        redirects=tuple(said.redirect_uris),
        grants=tuple(said.grant_types),
        scopes=scopes_of(said),
        jwks=said.jwks,
        jwks_uri=said.jwks_uri,
        dpop=said.dpop_bound_access_tokens,
    )


def register_client(authority: Authority, document: Any) -> dict[str, Any]:
    """Take a new client in, and tell it who it is from now on (RFC 7591, 3.2.1)."""
    said = read_description(document)
    settle(said, authority.settings)
    check_description(said, authority.settings)
    secret = new_secret() if said.token_endpoint_auth_method in SECRET_METHODS else ""
    client = client_of(said, said_id := new_secret(), secret)
    authority.clients.put(digest(said_id), client, inf)
    said.client_id = said_id
    told = {name: value for name, value in msgspec.to_builtins(said).items() if value not in (None, "")}
    told["client_id_issued_at"] = int(authority.now())
    if secret:
        told |= {"client_secret": secret, "client_secret_expires_at": 0}
    return {"response_types": ["code"], **told}

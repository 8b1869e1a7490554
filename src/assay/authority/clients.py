"""Find a client: preregistered in the settings, registered dynamically, or described by a document at its
URL."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from .client_metadata import ClientMetadata, check_client_metadata, replace_unsupported, scopes_of
from .error import OAuthError, invalid_client
from .fetch import NotFetched
from .record import SECRET_METHODS, Client, Document, digest, new_secret
from .settings import LOOPBACK

if TYPE_CHECKING:
    from .authority import Authority


async def find_client(authority: Authority, client_id: str) -> Client:
    """
    Raises:
        OAuthError: The client is unknown.
    """
    client = authority.preregistered.get(client_id) or authority.clients.get(digest(client_id))
    if client is not None:
        return client
    if authority.settings.documents and is_document_address(client_id, authority.settings.loopback_documents):
        return described_client(await fetch_document(authority, client_id), client_id, authority)
    raise invalid_client("unknown client")


def is_document_address(client_id: str, loopback: bool) -> bool:
    """Whether the id is an https URL with a path, in a form that all parsers read alike."""
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
    """The document at a URL: from the settings, from the cache, or fetched."""
    if url in authority.settings.published:
        return authority.settings.published[url]
    cached = authority.documents.get(digest(url))
    if cached is not None:
        return cached.content
    try:
        content, lifetime = await authority.fetch(url)
    except NotFetched as error:
        raise OAuthError("invalid_client_metadata", f"{url}: {error}") from None
    seconds = authority.settings.lifetimes.document if lifetime is None else lifetime
    authority.documents.put(digest(url), Document(content=content), authority.now() + seconds)
    return content


def described_client(document: dict[str, Any], url: str, authority: Authority) -> Client:
    """
    Raises:
        OAuthError: The document is invalid, or describes another client.
    """
    metadata = read_client_metadata(document)
    # A document for another id would let its author impersonate that client.
    if metadata.client_id != url:
        raise OAuthError("invalid_client_metadata", "client_id is not the document's own URL")
    if not metadata.client_name or not metadata.redirect_uris:
        raise OAuthError("invalid_client_metadata", "client_name or redirect_uris is missing")
    method = metadata.token_endpoint_auth_method or "none"
    if method in SECRET_METHODS or "client_secret" in document:
        raise OAuthError("invalid_client_metadata", "a public document cannot use a client secret")
    replace_unsupported(metadata, authority.settings)
    # A registration is answered with the replaced method; the author of a document would never see it.
    metadata.token_endpoint_auth_method = method
    check_client_metadata(metadata, authority.settings)
    return client_of(metadata, url)


def read_client_metadata(document: Any) -> ClientMetadata:
    try:
        return msgspec.convert(document, ClientMetadata)
    except msgspec.ValidationError as error:
        raise OAuthError("invalid_client_metadata", str(error)) from None


def client_of(metadata: ClientMetadata, client_id: str, secret: str = "") -> Client:
    return Client(
        id=client_id,
        secret=digest(secret) if secret else "",
        methods=(metadata.token_endpoint_auth_method or "client_secret_basic",),
        name=metadata.client_name,
        redirects=tuple(metadata.redirect_uris),
        grants=tuple(metadata.grant_types),
        scopes=scopes_of(metadata),
        jwks=metadata.jwks,
        jwks_uri=metadata.jwks_uri,
        dpop=metadata.dpop_bound_access_tokens,
    )


def register_client(authority: Authority, document: Any) -> dict[str, Any]:
    """Register a client and return its metadata with the new id and secret (RFC 7591, 3.2.1)."""
    metadata = read_client_metadata(document)
    replace_unsupported(metadata, authority.settings)
    check_client_metadata(metadata, authority.settings)
    secret = new_secret() if metadata.token_endpoint_auth_method in SECRET_METHODS else ""
    client = client_of(metadata, client_id := new_secret(), secret)
    authority.clients.put(digest(client_id), client, inf)
    metadata.client_id = client_id
    reply = {name: value for name, value in msgspec.to_builtins(metadata).items() if value not in (None, "")}
    reply["client_id_issued_at"] = int(authority.now())
    if secret:
        reply |= {"client_secret": secret, "client_secret_expires_at": 0}
    return {"response_types": ["code"], **reply}

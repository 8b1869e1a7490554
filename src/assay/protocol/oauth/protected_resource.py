"""Protected resource metadata: who authorizes access to a server (RFC 9728)."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from assay.model.client_error import AuthorizationFailed

from .address import base, check_url, covers
from .challenge import Challenge, read_scopes
from .document import convert, fetch
from .effect import Flow

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
SERVERS: Final = 20


class _Document(Struct):
    resource: str
    authorization_servers: list[str] = []
    scopes_supported: list[str] = []
    dpop_bound_access_tokens_required: bool = False


class ProtectedResource(Struct, frozen=True):
    resource: str
    """The identifier, exactly as the server writes it."""
    issuers: tuple[str, ...]
    scopes: tuple[str, ...] = ()
    needs_dpop: bool = False
    described: bool = True
    """Whether the server publishes metadata. If not, it is its own authorization server, as in the first
    revision with authorization."""


def find_resource(url: str, challenge: Challenge, version: str | None) -> Flow[ProtectedResource]:
    """
    Raises:
        AuthorizationFailed: the metadata is for another resource, or unusable.
    """
    for address in _addresses(url, challenge):
        document = yield from fetch(address, version)
        if document is not None:
            return _read(convert(document, _Document, f"the metadata of the resource at {address}"), url)
    return ProtectedResource(url, (base(url), f"{base(url)}/"), described=False)


def _addresses(url: str, challenge: Challenge) -> list[str]:
    path = urlsplit(url).path.rstrip("/")
    candidates = [f"{base(url)}{WELL_KNOWN}{path}", f"{base(url)}{WELL_KNOWN}"]
    if challenge.resource_metadata is not None:
        candidates.insert(0, check_url(challenge.resource_metadata, "resource_metadata of the challenge"))
    return list(dict.fromkeys(candidates))


def _read(document: _Document, url: str) -> ProtectedResource:
    if not covers(document.resource, url):
        raise AuthorizationFailed(
            f"the metadata of {url} is for another resource, {document.resource[:200]!r}:"
            " a token for it must not be sent here; the server's administrator can correct `resource`"
        )
    if not document.authorization_servers:
        raise AuthorizationFailed(
            f"the metadata of {url} names no authorization server: its administrator can add"
            " `authorization_servers`"
        )
    return ProtectedResource(
        document.resource,
        tuple(document.authorization_servers[:SERVERS]),
        read_scopes(" ".join(document.scopes_supported)),
        document.dpop_bound_access_tokens_required,
    )

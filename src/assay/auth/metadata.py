"""Protected resource metadata (RFC 9728)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlsplit

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
HEADERS: Final = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"public, max-age=3600"),
    (b"access-control-allow-origin", b"*"),
)
PREFLIGHT: Final = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", b"GET, HEAD, OPTIONS"),
    (b"access-control-allow-headers", b"mcp-protocol-version"),
    (b"access-control-max-age", b"3600"),
)
ALLOW: Final = (b"allow", b"GET, HEAD, OPTIONS")


def address_of_metadata(resource: str) -> str:
    """RFC 9728, 3.1: the well-known segment goes between host and path."""
    parts = urlsplit(resource)
    return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path.rstrip('/')}"


def paths_of_metadata(resource: str, endpoint: str | None) -> frozenset[str]:
    """Paths that serve the document: for the resource, for the endpoint as mounted here, and at the root."""
    below = (urlsplit(resource).path, endpoint or "", "")
    return frozenset(f"{WELL_KNOWN}{path.rstrip('/')}" for path in below)


def describe(resource: str, issuer: str, scopes: Iterable[str], **more: Any) -> dict[str, Any]:
    scopes = list(scopes)
    return {
        "resource": resource,
        "authorization_servers": [issuer],
        **({"scopes_supported": scopes} if scopes else {}),
        "bearer_methods_supported": ["header"],
        **{name: value for name, value in more.items() if value},
    }

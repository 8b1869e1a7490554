"""The `WWW-Authenticate` challenge (RFC 6750, 9449 and 9728)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from assay.protocol.scope import SCOPE_TOKEN

from .credentials import BEARER, DPOP
from .signature import ALGORITHMS

UNSAFE: Final = re.compile(r"[^\x20\x21\x23-\x5B\x5D-\x7E]")
"""Characters that RFC 6750, 3 forbids in a parameter; a line end would let a reason inject a header."""


def check_scopes(scopes: Iterable[str], option: str) -> tuple[str, ...]:
    """
    Raises:
        ValueError: A value is not a scope, or must not be requested by a resource server.
    """
    if isinstance(scopes, str):
        raise ValueError(f"{option} must be a list of scopes: {scopes!r}")
    unique = tuple(dict.fromkeys(scopes))
    for scope in unique:
        if not SCOPE_TOKEN.fullmatch(scope):
            raise ValueError(f"{option}: not a scope: {scope!r}")
        if scope == "offline_access":
            # MCP authorization: a resource server SHOULD NOT ask for it; refresh tokens are not its concern.
            raise ValueError(f"{option}: offline_access is between a client and its authorization server")
    return unique


def challenge(
    metadata: str,
    *,
    scopes: Iterable[str] = (),
    error: str | None = None,
    reason: str = "",
    scheme: str = BEARER,
) -> bytes:
    """Build the header's value; `metadata` is the URL of the protected resource metadata."""
    parameters = {
        "error": error or "",
        "error_description": reason if error else "",
        "scope": " ".join(scopes),
        "resource_metadata": metadata,
        "algs": " ".join(ALGORITHMS) if scheme == DPOP else "",
    }
    pairs = (f'{name}="{UNSAFE.sub("?", value)}"' for name, value in parameters.items() if value)
    return f"{scheme} {', '.join(pairs)}".encode("ascii")

"""The header that tells a client what it takes to be let in (RFC 6750, 9449 and 9728)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from assay.model.scope import SCOPE

from .credentials import BEARER, DPOP
from .signature import ALGORITHMS

UNSAFE: Final = re.compile(r"[^\x20\x21\x23-\x5B\x5D-\x7E]")
"""What RFC 6750 lets no value have: quotes and backslashes, line ends, anything but ASCII."""


def check_scopes(scopes: Iterable[str], what: str) -> tuple[str, ...]:
    """
    Raises:
        ValueError: one of them is no scope, or none that a server may ask for.
    """
    if isinstance(scopes, str):
        raise ValueError(f"{what} must be a list of scopes: {scopes!r}")
    found = tuple(dict.fromkeys(scopes))
    for scope in found:
        if not SCOPE.fullmatch(scope):
            raise ValueError(f"{what}: not a scope: {scope!r}")
        if scope == "offline_access":
            # The specification: whether a client may refresh is none of a server's business.
            raise ValueError(f"{what}: offline_access is between a client and its authorization server")
    return found


def challenge(
    metadata: str,
    *,
    scopes: Iterable[str] = (),
    error: str | None = None,
    reason: str = "",
    scheme: str = BEARER,
) -> bytes:
    """`metadata` is where the resource tells of itself."""
    said = {
        "error": error or "",
        "error_description": reason if error else "",
        "scope": " ".join(scopes),
        "resource_metadata": metadata,
        "algs": " ".join(ALGORITHMS) if scheme == DPOP else "",
    }
    pairs = (f'{name}="{UNSAFE.sub("?", value)}"' for name, value in said.items() if value)
    return f"{scheme} {', '.join(pairs)}".encode("ascii")

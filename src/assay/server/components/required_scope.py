"""Scopes that callers need, as authors declare them for methods and components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from assay.extensions.registry import REQUESTS as EXTENSION_REQUESTS
from assay.model.error import RegistrationError
from assay.protocol.scope import SCOPE_TOKEN
from assay.revisions.registry import REVISIONS

PROTOCOL_METHODS: Final = frozenset(EXTENSION_REQUESTS).union(
    *(revision.requests | revision.experimental for revision in REVISIONS)
)
"""The methods of all revisions and of the extensions that Assay supports."""


def read_scopes(scopes: Sequence[str], owner: str) -> tuple[str, ...]:
    """
    Raises:
        RegistrationError: these are not scopes, such as a single string instead of a list.
    """
    if isinstance(scopes, str):
        raise RegistrationError(f"{owner}: scopes must be a list: write scopes={scopes.split()!r:.80}")
    unique = tuple(dict.fromkeys(scopes))
    for scope in unique:
        if not isinstance(scope, str) or not SCOPE_TOKEN.fullmatch(scope):
            raise RegistrationError(f"{owner}: invalid scope: {scope!r}")
    return unique


def read_method_scopes(scopes: Mapping[str, Sequence[str]] | None) -> dict[str, tuple[str, ...]]:
    """
    Raises:
        RegistrationError: the protocol has no such method. A typo would leave the intended method
            unprotected.
    """
    for method in scopes or ():
        if method not in PROTOCOL_METHODS:
            hint = "pass the scopes of a custom method to @server.method(..., scopes=[...])"
            raise RegistrationError(f"scopes: the protocol has no method {method!r}; {hint}")
    return {method: read_scopes(names, method) for method, names in (scopes or {}).items()}

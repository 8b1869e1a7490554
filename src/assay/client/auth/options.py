"""Checks of options, before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable

from assay.model.client_error import AuthorizationFailed
from assay.protocol.oauth.address import check_url
from assay.protocol.scope import SCOPE_TOKEN


def check_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    """
    Raises:
        ValueError: a value is not a scope.
    """
    unique = tuple(dict.fromkeys(scopes.split() if isinstance(scopes, str) else scopes))
    for scope in unique:
        if not isinstance(scope, str) or not SCOPE_TOKEN.fullmatch(scope):
            raise ValueError(f"scopes: not a scope: {scope!r}")
    return unique


def check_configured(**urls: str | None) -> tuple[str, ...]:
    """The URLs that the user has set.

    Raises:
        ValueError: one is not https, or not on this machine.
    """
    present = {option: url for option, url in urls.items() if url is not None}
    for option, url in present.items():
        try:
            check_url(url, f"{option}=")
        except AuthorizationFailed as error:
            raise ValueError(str(error)) from None
    return tuple(present.values())

"""Checks of options, before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assay.client.hint import check_options as check_timeout
from assay.client.hint import check_types
from assay.model.client_error import AuthorizationFailed
from assay.protocol.oauth.address import check_url
from assay.protocol.scope import SCOPE_TOKEN

from .storage import MemoryStorage, TokenStorage

STORAGE: Final = ("load", "save", "delete")


def check_options(storage: TokenStorage | None, timeout: float = 0.0, **texts: str | None) -> TokenStorage:
    """The storage; without any, one in memory.

    Raises:
        TypeError, ValueError: an option has a value of another type.
    """
    if timeout is None:
        raise TypeError("timeout must be a number of seconds, not None")
    check_timeout(timeout)
    check_types(**{name: (text, str) for name, text in texts.items()})
    if storage is None:
        return MemoryStorage()
    if isinstance(storage, type) or not all(callable(getattr(storage, name, None)) for name in STORAGE):
        raise TypeError(f"storage must be like MemoryStorage(), with load, save and delete, not {storage!r}")
    return storage


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


def check_supplier(name: str, supplier: object) -> None:
    """
    Raises:
        TypeError: neither a text nor a function.
    """
    if not isinstance(supplier, str) and not callable(supplier):
        raise TypeError(
            f"{name} must be a token, or a function that returns it, not {type(supplier).__name__}"
        )

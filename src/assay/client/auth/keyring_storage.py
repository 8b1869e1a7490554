"""Tokens in the keyring of the operating system."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from assay.model.client_error import AuthorizationFailed
from assay.model.error import MissingExtra


class KeyringStorage:
    """Tokens in the keyring of the operating system, through the package `keyring`.

    Args:
        service: The name under which the keyring shows them.

    Raises:
        MissingExtra: `keyring` is not installed.
    """

    def __init__(self, service: str = "assay") -> None:
        try:
            self._keyring: Any = import_module("keyring")
        except ImportError:
            raise MissingExtra("storage in a keyring needs keyring: pip install keyring") from None
        self._service = service

    async def load(self, key: str) -> str | None:
        value = await self._call(self._keyring.get_password, key)
        return value if isinstance(value, str) else None

    async def save(self, key: str, value: str) -> None:
        await self._call(self._keyring.set_password, key, value)

    async def delete(self, key: str) -> None:
        if await self.load(key) is not None:
            await self._call(self._keyring.delete_password, key)

    async def _call(self, function: Any, *arguments: str) -> Any:
        """In a thread, because the keyring may ask the user to unlock it."""
        try:
            return await asyncio.to_thread(function, self._service, *arguments)
        except self._keyring.errors.KeyringError as error:
            raise AuthorizationFailed(
                f"the keyring cannot be used: {error}; unlock it, or use FileStorage"
            ) from error

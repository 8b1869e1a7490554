"""Attributes that other libraries have: the error says what to write here."""

from __future__ import annotations

from typing import Any


class OtherName:
    """An attribute that does not exist, as far as `hasattr` and type checkers are concerned.

    Not `__getattr__`, with which Python reads all attributes of a class more slowly.
    """

    def __init__(self, instead: str) -> None:
        self._instead = instead

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        text = f"{type(instance).__name__!r} object has no attribute {self._name!r}: {self._instead}"
        raise AttributeError(text, name=self._name, obj=instance)

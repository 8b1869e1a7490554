"""Where an authority keeps its records: a port, and typed shelves on top of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import msgspec

from .refusal import Refused

Record = TypeVar("Record")
Now = Callable[[], float]
BOUND = 50_000
"""Records of one kind."""


class Full(Refused):
    """Nothing more of this kind can be kept. Forgetting others instead could forget what was revoked."""

    def __init__(self, kind: str) -> None:
        super().__init__("temporarily_unavailable", f"too many records: {kind}", status=503)


class Store(Protocol):
    """Bytes by kind and key, each with its end. Contract tests run over every implementation."""

    def put(self, kind: str, key: str, value: bytes, expires: float) -> None:
        """
        Raises:
            Full: there are too many of this kind.
        """

    def add(self, kind: str, key: str, value: bytes, expires: float) -> bool:
        """The same, unless there is one already: false then."""

    def get(self, kind: str, key: str) -> bytes | None: ...

    def swap(self, kind: str, key: str, old: bytes, new: bytes) -> bool:
        """Put `new` where `old` is, in one step; false where it is not."""

    def drop(self, kind: str, key: str) -> None: ...

    def all(self, kind: str) -> list[tuple[str, bytes]]:
        """Keys and values, oldest first."""

    def close(self) -> None: ...


class Shelf(Generic[Record]):
    """The records of one type."""

    def __init__(self, store: Store, kind: str, record: type[Record]) -> None:
        self._store = store
        self._kind = kind
        self._decode = msgspec.json.Decoder(record).decode
        self._encode = msgspec.json.Encoder().encode

    def put(self, key: str, record: Record, expires: float) -> None:
        self._store.put(self._kind, key, self._encode(record), expires)

    def add(self, key: str, record: Record, expires: float) -> bool:
        return self._store.add(self._kind, key, self._encode(record), expires)

    def get(self, key: str) -> Record | None:
        value = self._store.get(self._kind, key)
        return None if value is None else self._decode(value)

    def swap(self, key: str, old: Record, new: Record) -> bool:
        return self._store.swap(self._kind, key, self._encode(old), self._encode(new))

    def drop(self, key: str) -> None:
        self._store.drop(self._kind, key)

    def all(self) -> list[tuple[str, Record]]:
        return [(key, self._decode(value)) for key, value in self._store.all(self._kind)]

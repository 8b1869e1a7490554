"""Storage of an authority's records: a port, and typed tables on top of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import msgspec

from .error import OAuthError

Record = TypeVar("Record")
Now = Callable[[], float]
BOUND = 50_000
"""Most records of one kind."""


class Full(OAuthError):
    """No more records of this kind fit. To evict others could forget what was revoked or used."""

    def __init__(self, kind: str) -> None:
        super().__init__("temporarily_unavailable", f"too many records: {kind}", status=503)


class Store(Protocol):
    """Bytes by kind and key, each with an expiry time. Contract tests cover every implementation."""

    def put(self, kind: str, key: str, value: bytes, expires: float) -> None:
        """
        Raises:
            Full: There are too many records of this kind.
        """

    def add(self, kind: str, key: str, value: bytes, expires: float) -> bool:
        """Put, unless the key exists; returns whether it did."""

    def get(self, kind: str, key: str) -> bytes | None: ...

    def swap(self, kind: str, key: str, old: bytes, new: bytes) -> bool:
        """Replace `old` with `new` atomically; returns whether it did."""

    def drop(self, kind: str, key: str) -> None: ...

    def all(self, kind: str) -> list[tuple[str, bytes]]:
        """Keys and values, oldest first."""

    def close(self) -> None: ...


class RecordTable(Generic[Record]):
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

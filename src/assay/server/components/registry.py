"""Components by name, in order of registration, with pages that stay stable while components change."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from assay.model.error import INVALID_PARAMS, RegistrationError, RpcError
from assay.protocol.cursor import UnknownCursor, decode_cursor, encode_cursor


class Component(Protocol):
    @property
    def key(self) -> str: ...

    @property
    def definition(self) -> Any: ...

    @property
    def scopes(self) -> tuple[str, ...]: ...


C = TypeVar("C", bound=Component)


class PagedRegistry(Generic[C]):
    """An ordered collection that is listed in pages.

    Each component gets a number that is never reused. A cursor holds the last number of its page, so
    following pages neither repeat nor skip components that exist throughout.
    """

    def __init__(self, kind: str, page_size: int, on_change: Callable[[], None]) -> None:
        if page_size < 1:
            raise RegistrationError(f"page_size must be at least 1: {page_size}")
        self.kind = kind
        self.page_size = page_size
        self._on_change = on_change
        self.by_key: dict[str, C] = {}
        self._numbers: list[int] = []
        self._keys: list[str] = []
        self._last = 0
        self._scoped = 0

    def __len__(self) -> int:
        return len(self.by_key)

    def __iter__(self) -> Iterator[C]:
        return iter(self.by_key.values())

    @property
    def used(self) -> bool:
        """Whether anything was ever registered: a declared list stays declared when it becomes empty."""
        return self._last > 0

    @property
    def is_scoped(self) -> bool:
        """Whether the list depends on the caller's scopes."""
        return self._scoped > 0

    def get(self, key: str) -> C | None:
        return self.by_key.get(key)

    def scopes_of(self, key: str | None) -> tuple[str, ...]:
        """The scopes required to use a component; none if it does not exist."""
        return self.by_key[key].scopes if key in self.by_key else ()

    def add(self, component: C) -> None:
        if component.key in self.by_key:
            other = "URI" if self.kind.startswith("resource") else "name"
            fix = f"give one of them another {other}, or first call {self.kind}.remove({component.key!r})"
            raise RegistrationError(f"{self.kind} already has {component.key!r}: {fix}")
        self._last += 1
        self.by_key[component.key] = component
        self._numbers.append(self._last)
        self._keys.append(component.key)
        self._scoped += bool(component.scopes)
        self._on_change()

    def remove(self, key: str) -> None:
        """
        Raises:
            KeyError: nothing is registered under that key.
        """
        self._scoped -= bool(self.by_key.pop(key).scopes)
        position = self._keys.index(key)
        del self._keys[position], self._numbers[position]
        self._on_change()

    def page(self, cursor: str | None, granted: frozenset[str] | None = None) -> tuple[list[Any], str | None]:
        """The definitions of one page, and the cursor of the next; see `components`."""
        components, next_cursor = self.components(cursor, granted)
        return [component.definition for component in components], next_cursor

    def components(
        self, cursor: str | None, granted: frozenset[str] | None = None
    ) -> tuple[list[C], str | None]:
        """The components of one page, and the cursor of the next. With `granted`, only those that a caller
        with these scopes may use.

        Raises:
            RpcError: the cursor is invalid.
        """
        start = 0 if cursor is None else bisect_right(self._numbers, self._position(cursor))
        positions: Sequence[int] = range(start, len(self._keys))
        if granted is not None and self.is_scoped:
            usable = (position for position in positions if granted.issuperset(self._at(position).scopes))
            # One more than fits on the page, to know whether another page follows.
            positions = list(islice(usable, self.page_size + 1))
        page = positions[: self.page_size]
        more = len(positions) > self.page_size
        next_cursor = encode_cursor(self.kind, self._numbers[page[-1]]) if more else None
        return [self._at(position) for position in page], next_cursor

    def _at(self, position: int) -> C:
        return self.by_key[self._keys[position]]

    def _position(self, cursor: str) -> int:
        try:
            return decode_cursor(self.kind, cursor, newest=self._last)
        except UnknownCursor:
            raise RpcError(INVALID_PARAMS, f"unknown cursor for {self.kind}: {cursor[:64]!r}") from None

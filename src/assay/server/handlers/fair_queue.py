"""A queue in which clients take turns, so that many items of one do not delay those of the others."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class FairQueue(Generic[T]):
    """First in, first out for each client; one item of each client in turn."""

    # The items of a client are keys: those of clients that leave are removed from the middle.
    __slots__ = ("_items", "_length")

    def __init__(self) -> None:
        self._items: OrderedDict[Hashable, OrderedDict[T, None]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def length_of(self, client: Hashable) -> int:
        items = self._items.get(client)
        return 0 if items is None else len(items)

    def put(self, client: Hashable, item: T) -> None:
        self._items.setdefault(client, OrderedDict())[item] = None
        self._length += 1

    def take(self, is_eligible: Callable[[Hashable], bool] | None = None) -> T | None:
        """Remove the next item, of the first client in turn that is eligible; none if there is none."""
        for client, items in self._items.items():
            if is_eligible is None or is_eligible(client):
                item, _ = items.popitem(last=False)
                self._items.move_to_end(client)
                self._forget(client, items)
                return item
        return None

    def discard(self, client: Hashable, item: T) -> bool:
        """Remove an item; false if it is no longer in the queue."""
        items = self._items.get(client)
        if items is None or item not in items:
            return False
        del items[item]
        self._forget(client, items)
        return True

    def take_newest_of_longest(self) -> T:
        """Remove the last item of the client with the most."""
        client, items = max(self._items.items(), key=lambda entry: len(entry[1]))
        item, _ = items.popitem()
        self._forget(client, items)
        return item

    def longest(self) -> int:
        return max(map(len, self._items.values()), default=0)

    def _forget(self, client: Hashable, items: OrderedDict[T, None]) -> None:
        """Account for an item that was removed."""
        self._length -= 1
        if not items:
            del self._items[client]

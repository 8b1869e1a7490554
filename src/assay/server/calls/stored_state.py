"""What handlers keep for one principal without a session, in a store that several processes use.

The mapping is a copy of the stored version. Changes are stored before the request is answered, together with
those that other processes have made meanwhile.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from assay.model.limits import Limits
from assay.model.session import merged_state
from assay.protocol.principal import digest_of_principal
from assay.store.port import StateRecord, StateStore

from .client_state import ClientState

COPIES: Final = 1000
"""Principals whose state a process has a copy of."""


class KeptState:
    """The state of one principal, as this process knows it."""

    def __init__(self, owner: str, store: StateStore) -> None:
        self._owner = owner
        self._store = store
        self._base = StateRecord({})
        self.values: dict[str, bytes] = {}
        self.is_changed = False

    def refresh(self) -> None:
        """Take the stored version, and keep what this process has changed meanwhile."""
        stored = self._store.peek(self._owner)
        if stored.version == self._base.version:
            return
        current = (
            merged_state(self._base.values, self.values, stored.values) if self.is_changed else stored.values
        )
        # In place: handlers in progress hold this mapping.
        self.values.clear()
        self.values.update(current)
        self._base = stored

    def reserve(self, change: int) -> bool:
        """Note that the mapping changes; how much it may keep is bounded for each principal."""
        self.is_changed = True
        return True

    async def save(self) -> None:
        """
        Raises:
            StoreAway: the changes are not stored.
        """
        while self.is_changed:
            record = StateRecord(dict(self.values), self._base.version + 1)
            self.is_changed = False
            stored = False
            try:
                stored = await self._store.swap(self._owner, record)
            finally:
                self.is_changed = self.is_changed or not stored
            if stored:
                self._base = record
            else:
                self.refresh()


class StoredStates:
    """Finds the state of a principal."""

    def __init__(self, store: StateStore, limits: Limits) -> None:
        self._store = store
        self._limits = limits
        self._copies: OrderedDict[str, KeptState] = OrderedDict()

    def kept(self, principal: Any) -> KeptState:
        """
        Raises:
            StoreAway: it cannot be read.
        """
        owner = digest_of_principal(principal)
        kept = self._copies.setdefault(owner, KeptState(owner, self._store))
        self._copies.move_to_end(owner)
        if len(self._copies) > COPIES:
            self._copies.popitem(last=False)
        kept.refresh()
        return kept

    def mapping(self, kept: KeptState) -> ClientState:
        return ClientState(kept.values, self._limits.kept_bytes, kept.reserve)

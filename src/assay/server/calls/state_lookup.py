"""Finds what handlers have stored for a client: in its session, or else by principal."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from assay.model.limits import Limits
from assay.protocol.session import Session

from .client_state import ClientState
from .stored_state import StoredStates


class ClientStates:
    """Finds the state of a client. Without sessions, the least recently seen principals are dropped first."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._by_principal: OrderedDict[Any, dict[str, bytes]] = OrderedDict()
        self.stored: StoredStates | None = None
        """Where several processes keep the state of principals; set while such a store is connected."""

    def of(self, session: Session | None, principal: Any) -> ClientState:
        limit = self._limits.kept_bytes
        if session is None:
            return ClientState(self._for_principal(principal), limit, lambda change: True)

        def reserve(change: int) -> bool:
            session.changed = True
            return session.reserve(change)

        return ClientState(session.client_state, limit, reserve)

    def _for_principal(self, principal: Any) -> dict[str, bytes]:
        values = self._by_principal.setdefault(principal, {})
        self._by_principal.move_to_end(principal)
        if len(self._by_principal) > self._limits.principals:
            self._by_principal.popitem(last=False)
        return values

"""What handlers keep for one client from request to request: with its session, else by principal.

Values are kept as JSON: what is read is a copy, a durable store can write it down, and its size
is known.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import msgspec

from assay.model.limits import Limits

from .call import Call


class ClientState(MutableMapping[str, Any]):
    """A mapping whose values are plain JSON, and not too large together."""

    def __init__(self, values: dict[str, bytes], limit: int, note: Callable[[], None]) -> None:
        self._values = values
        self._limit = limit
        self._note = note

    def __getitem__(self, key: str) -> Any:
        return msgspec.json.decode(self._values[key])

    def __setitem__(self, key: str, value: Any) -> None:
        """
        Raises:
            TypeError: the value is not plain JSON.
            ValueError: it would be too much.
        """
        encoded = msgspec.json.encode(value)
        others = sum(len(name) + len(kept) for name, kept in self._values.items() if name != key)
        if others + len(key) + len(encoded) > self._limit:
            raise ValueError(f"too much is kept for one client: limit {self._limit} bytes")
        self._values[key] = encoded
        self._note()

    def __delitem__(self, key: str) -> None:
        del self._values[key]
        self._note()

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class ClientStates:
    """Finds what is kept for the client of a call."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._by_principal: OrderedDict[Any, dict[str, bytes]] = OrderedDict()

    def of(self, call: Call) -> ClientState:
        session, limit = call.session, self._limits.kept_bytes
        if session is None:
            return ClientState(self._for_principal(call.scope.principal), limit, lambda: None)
        return ClientState(session.client_state, limit, lambda: setattr(session, "changed", True))

    def _for_principal(self, principal: Any) -> dict[str, bytes]:
        kept = self._by_principal.setdefault(principal, {})
        self._by_principal.move_to_end(principal)
        if len(self._by_principal) > self._limits.principals:
            self._by_principal.popitem(last=False)
        return kept

"""Results that the scripted client caches for as long as the server allows."""

from __future__ import annotations

import time
from typing import Any, Final

import msgspec

Json = dict[str, Any]
CHANGES: Final = {
    "notifications/tools/list_changed": ("tools/list",),
    "notifications/prompts/list_changed": ("prompts/list",),
    "notifications/resources/list_changed": ("resources/list", "resources/templates/list"),
}
"""The cached results that each notification invalidates."""
UPDATED: Final = "notifications/resources/updated"


class ResultCache:
    """The cache of a single client with one authorization context, so `private` results may be kept."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, bytes], tuple[float, Json]] = {}

    def get(self, method: str, params: Json) -> Json | None:
        """The cached result, if it is still fresh."""
        until, result = self._entries.get(_key(method, params), (0.0, {}))
        return result if time.monotonic() < until else None

    def put(self, method: str, params: Json, result: Json) -> None:
        seconds = _seconds(result.get("ttlMs"))
        if seconds > 0:
            self._entries[_key(method, params)] = time.monotonic() + seconds, result

    def invalidate(self, notification: str, params: Json) -> None:
        """Drop the results that a notification declares outdated."""
        for method in CHANGES.get(notification, ()):
            self.forget(method)
        if notification == UPDATED:
            self._entries.pop(_key("resources/read", {"uri": params.get("uri")}), None)

    def forget(self, method: str) -> None:
        self._entries = {key: value for key, value in self._entries.items() if key[0] != method}


def _seconds(hint: Any) -> float:
    usable = isinstance(hint, int | float) and not isinstance(hint, bool)
    return hint / 1000 if usable else 0.0


def _key(method: str, params: Json) -> tuple[str, bytes]:
    relevant = {key: value for key, value in params.items() if key != "_meta"}
    return method, msgspec.json.encode(relevant, order="deterministic")

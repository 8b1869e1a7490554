"""Answers that the guest keeps for as long as the server says."""

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
"""Which answers a notification makes old."""
UPDATED: Final = "notifications/resources/updated"


class Cache:
    """Of one guest, which has one authorization context: so `private` answers are safe here, too."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, bytes], tuple[float, Json]] = {}

    def get(self, method: str, params: Json) -> Json | None:
        """What is still fresh."""
        until, result = self._kept.get(_key(method, params), (0.0, {}))
        return result if time.monotonic() < until else None

    def keep(self, method: str, params: Json, result: Json) -> None:
        seconds = _seconds(result.get("ttlMs"))
        if seconds > 0:
            self._kept[_key(method, params)] = time.monotonic() + seconds, result

    def change(self, notification: str, params: Json) -> None:
        """Forget what a notification says is old."""
        for method in CHANGES.get(notification, ()):
            self.forget(method)
        if notification == UPDATED:
            self._kept.pop(_key("resources/read", {"uri": params.get("uri")}), None)

    def forget(self, method: str) -> None:
        self._kept = {key: value for key, value in self._kept.items() if key[0] != method}


def _seconds(hint: Any) -> float:
    usable = isinstance(hint, int | float) and not isinstance(hint, bool)
    return hint / 1000 if usable else 0.0


def _key(method: str, params: Json) -> tuple[str, bytes]:
    asked = {key: value for key, value in params.items() if key != "_meta"}
    return method, msgspec.json.encode(asked, order="deterministic")

"""Lists that come in pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.error import INVALID_PARAMS

from .failure import Failed, Refusal, SessionLost

if TYPE_CHECKING:
    from .client import ScriptedClient


async def list_all(client: ScriptedClient, method: str, key: str) -> list[Any]:
    """Every page; from the beginning again, once, where a cursor is not good any more, or went with its
    session."""
    try:
        return await _pages(client, method, key)
    except (Refusal, SessionLost) as reason:
        stale = isinstance(reason, SessionLost) or reason.code == INVALID_PARAMS
        if not stale or client.cursors.pop(method, None) is None:
            raise
        client.cache.forget(method)
        return await _pages(client, method, key)


async def _pages(client: ScriptedClient, method: str, key: str) -> list[Any]:
    """An empty cursor is one like any other; only that none is given means the end."""
    found: list[Any] = []
    client.cursors.pop(method, None)
    params: dict[str, Any] = {}
    for _ in range(client.behaviour.most_pages):
        result = await client.request(method, dict(params))
        items, following = result.get(key), result.get("nextCursor")
        if not isinstance(items, list):
            raise Failed(f"the answer to {method} holds no {key}")
        found += items
        if following is None or not client.behaviour.follows_pages:
            return found
        if following == params.get("cursor"):
            raise Failed(f"{method} gives the same cursor again")
        params["cursor"] = client.cursors[method] = following
    raise Failed(f"{method} has no end")

"""Reading paginated lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.error import INVALID_PARAMS

from .failure import ErrorAnswer, SessionLost, StepFailed

if TYPE_CHECKING:
    from .client import ScriptedClient


async def list_all(client: ScriptedClient, method: str, key: str) -> list[Any]:
    """The items of every page. Starts over once if the server rejects a cursor or loses the session."""
    try:
        return await _pages(client, method, key)
    except (ErrorAnswer, SessionLost) as reason:
        stale = isinstance(reason, SessionLost) or reason.code == INVALID_PARAMS
        if not stale or client.cursors.pop(method, None) is None:
            raise
        client.cache.forget(method)
        return await _pages(client, method, key)


async def _pages(client: ScriptedClient, method: str, key: str) -> list[Any]:
    # An empty cursor is a valid cursor: only a missing one marks the last page.
    entries: list[Any] = []
    client.cursors.pop(method, None)
    params: dict[str, Any] = {}
    for _ in range(client.behaviour.most_pages):
        result = await client.request(method, dict(params))
        items, following = result.get(key), result.get("nextCursor")
        if not isinstance(items, list):
            raise StepFailed(f"the result of {method} has no list {key}")
        entries += items
        if following is None or not client.behaviour.follows_pages:
            return entries
        if following == params.get("cursor"):
            raise StepFailed(f"{method} returned the same cursor twice")
        params["cursor"] = client.cursors[method] = following
    raise StepFailed(f"{method} has more than {client.behaviour.most_pages} pages")

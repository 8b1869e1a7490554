"""Changes that a subject's tools cause, and the notifications that must follow them.

The effect of an unknown tool is unknown. So the lists and resources are read before and after each call, and
the driver waits only for notifications of actual changes. Values that change without a call are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

from assay.lab.harness.subject.facts import Facts

from .choice import CHANGING, argument_sets, matching_tools
from .peer import Peer

UPDATED: Final = "notifications/resources/updated"
LISTS: Final = {
    "tools": ("notifications/tools/list_changed", "tools/list", "name"),
    "prompts": ("notifications/prompts/list_changed", "prompts/list", "name"),
    "resources": ("notifications/resources/list_changed", "resources/list", "uri"),
}
"""Notification of a change, method to read the list, key of its items."""
WATCHED: Final = 6
"""Resources that are read before and after each call."""

Snapshot = dict[tuple[str, str], Any]
"""Values by the notification of their change and its URI."""


def announced_lists(facts: Facts) -> list[str]:
    return [area for area in LISTS if facts.declares(area, "listChanged")]


async def provoke(peer: Peer, facts: Facts, areas: Sequence[str], uris: Sequence[str]) -> None:
    """Call the tools whose description suggests changes, and wait for the notification of each change.

    Stops at the first missing notification, which a mark records in the trace.
    """
    first, before = await _snapshot(peer, areas, uris), await _snapshot(peer, areas, uris)
    steady = [key for key in before if before[key] == first[key]]
    for tool in matching_tools(CHANGING, facts):
        for arguments in argument_sets(tool, facts, _new_text(peer, tool, before)):
            await peer.call(tool, arguments)
            after = await _snapshot(peer, areas, uris)
            changed = [key for key in steady if after[key] != before[key]]
            before = after
            if not all([await _is_announced(peer, *key) for key in changed]):
                return


def _new_text(peer: Peer, tool: dict[str, Any], before: Snapshot) -> str:
    """A text that differs from existing content and from concurrent writes, but is deterministic for a
    server, so that golden runs can be compared."""
    return sha256(repr((peer.revision.date, tool.get("name"), before)).encode()).hexdigest()[:8]


async def _is_announced(peer: Peer, method: str, uri: str) -> bool:
    params: dict[str, Any] = {"uri": uri} if uri else {}
    return await peer.wait_for(method, peer.server_stream, **params) is not None


async def _snapshot(peer: Peer, areas: Sequence[str], uris: Sequence[str]) -> Snapshot:
    values: Snapshot = {}
    for area in areas:
        notification, method, key = LISTS[area]
        items = await peer.pages(method, area)
        values[notification, ""] = [item.get(key) for item in items if isinstance(item, dict)]
    for uri in uris[:WATCHED]:
        reply = await peer.request("resources/read", {"uri": uri})
        values[UPDATED, uri] = reply.result.get("contents")
    return values

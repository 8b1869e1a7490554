"""Changes that a subject's own tools make, and the notifications that must follow them.

Nobody can know what a tool of an unknown server does. So what the server offers is looked at before and after
each call: only what did change is waited for, and what changes by itself is not watched.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

from assay.lab.harness.subject.facts import Facts

from .choice import CHANGING, argument_sets, tools_that
from .peer import Peer

UPDATED: Final = "notifications/resources/updated"
LISTS: Final = {
    "tools": ("notifications/tools/list_changed", "tools/list", "name"),
    "prompts": ("notifications/prompts/list_changed", "prompts/list", "name"),
    "resources": ("notifications/resources/list_changed", "resources/list", "uri"),
}
"""What announces a list's change, how it is read, what its items are told apart by."""
WATCHED: Final = 6
"""Resources that are read before and after each call."""

Look = dict[tuple[str, str], Any]
"""What was seen, by the notification that tells of its change and the URI in that."""


def announced_lists(facts: Facts) -> list[str]:
    return [area for area in LISTS if facts.declares(area, "listChanged")]


async def provoke(peer: Peer, facts: Facts, areas: Sequence[str], uris: Sequence[str]) -> None:
    """Call the tools that speak of changes, and wait until each change that shows is announced.

    Ends at the first that is not: a mark says so in the trace.
    """
    first, before = await _look(peer, areas, uris), await _look(peer, areas, uris)
    steady = [key for key in before if before[key] == first[key]]
    for tool in tools_that(CHANGING, facts):
        for arguments in argument_sets(tool, _new_text(peer, tool, before)):
            await peer.call(tool, arguments)
            after = await _look(peer, areas, uris)
            changed = [key for key in steady if after[key] != before[key]]
            before = after
            if not all([await _heard(peer, *key) for key in changed]):
                return


def _new_text(peer: Peer, tool: dict[str, Any], before: Look) -> str:
    """Unlike all that is there, and unlike what others may be writing at the same time; the same for the same
    server, so that golden runs can be compared."""
    return sha256(repr((peer.revision.date, tool.get("name"), before)).encode()).hexdigest()[:8]


async def _heard(peer: Peer, method: str, uri: str) -> bool:
    about: dict[str, Any] = {"uri": uri} if uri else {}
    return await peer.hear(method, peer.ears, **about) is not None


async def _look(peer: Peer, areas: Sequence[str], uris: Sequence[str]) -> Look:
    seen: Look = {}
    for area in areas:
        announced, method, key = LISTS[area]
        items = await peer.pages(method, area)
        seen[announced, ""] = [item.get(key) for item in items if isinstance(item, dict)]
    for uri in uris[:WATCHED]:
        reply = await peer.request("resources/read", {"uri": uri})
        seen[UPDATED, uri] = reply.result.get("contents")
    return seen

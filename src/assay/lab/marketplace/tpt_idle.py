"""A stream on which nothing happens: how one is opened, by revision."""

from __future__ import annotations

from typing import Final

from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.link import Sent

FILTERS: Final = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
}
SILENT: Final = "no comment"
"""The mark of a stream on which the driver waited for a sign of life in vain."""


async def idle_stream(stage: Stage, peer: Peer) -> Sent | None:
    """The stream for what belongs to no request; none where the server has none."""
    if "subscriptions/listen" not in stage.revision.requests:
        if not stage.revision.http.sessions:
            return None
        return await peer.http.listen()
    wanted = {key: True for name, key in FILTERS.items() if stage.facts.declares(name, "listChanged")}
    if not wanted:
        return None
    pending = await peer.start("subscriptions/listen", {"notifications": wanted})
    return pending.sent

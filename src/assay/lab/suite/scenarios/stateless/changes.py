"""The server's own tools change what it offers, and every listener hears what it asked for."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.driver.choice import uris_of
from assay.lab.harness.driver.list_change import WATCHED, announced_lists, provoke
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.suite.listening import ACKNOWLEDGED
from assay.lab.suite.subscription import LISTEN, TELLS


@scenario(
    "Changes on listen streams",
    exercises=("stateless.listen-stream", "resources.announced"),
    needs=(TELLS,),
    window=lambda revision: LISTEN in revision.requests,
    effects=True,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    areas = announced_lists(stage.facts)
    uris = uris_of(stage.facts)[:WATCHED] if stage.facts.declares("resources", "subscribe") else []
    for wishes in _wishes(areas, uris):
        pending = await peer.start(LISTEN, {"notifications": wishes})
        if await peer.hear(ACKNOWLEDGED, pending) is None:
            return
    await provoke(peer, stage.facts, areas, uris)


def _wishes(areas: list[str], uris: list[str]) -> list[dict[str, Any]]:
    """A stream for each, so that what comes on the wrong one is seen."""
    lists = [{f"{area}ListChanged": True} for area in areas]
    return [*lists, {"resourceSubscriptions": uris}] if uris else list(lists)

"""Resources that are not there, and URIs that are none."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.driver.choice import NOWHERE, uris_of
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares
from assay.lab.harness.scenario import scenario

NO_URIS: Final[tuple[dict[str, Any], ...]] = ({"uri": "no uri at all"}, {"uri": ""}, {"uri": 42}, {})


@scenario(
    "Resources that do not exist",
    exercises=("resources.unknown", "resources.validated-uris"),
    needs=(declares("resources"),),
    official="sep-2164-resource-not-found",
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("resources/templates/list", "resourceTemplates")
    for uri in uris_of(stage.facts)[:1]:
        await peer.request("resources/read", {"uri": uri})
    await peer.request("resources/read", {"uri": NOWHERE})
    await peer.request("resources/read", {"uri": f"{NOWHERE}/of-the-lab.txt"})
    for params in NO_URIS:
        await peer.request("resources/read", params)

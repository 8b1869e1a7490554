"""Two resources of one template are read."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_template
from assay.lab.harness.driver.stage import Stage

IDS = ("123", "assay-4711")
"""The official one, and one that no server can have prepared an answer for."""


@official_scenario(
    "resources-templates-read",
    "Reading resources of a template",
    needs=(fixture_template("test://template/{id}/data"),),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    for name in IDS:
        await peer.request("resources/read", {"uri": f"test://template/{name}/data"})

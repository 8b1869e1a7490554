"""A resource with a text is read."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.fixture import fixture_resource
from assay.lab.harness.driver.stage import Stage


@official_scenario("resources-read-text", "Reading a text", needs=(fixture_resource("test://static-text"),))
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("resources/read", {"uri": "test://static-text"})

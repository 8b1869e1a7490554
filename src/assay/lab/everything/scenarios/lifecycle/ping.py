"""A ping."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.stage import Stage


@official_scenario("ping", "A ping is answered with an empty result")
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("ping")

"""The handshake."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.stage import Stage


@official_scenario("server-initialize", "The handshake")
async def drive(stage: Stage) -> None:
    await stage.open()

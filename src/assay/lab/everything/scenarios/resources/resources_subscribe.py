"""A resource is subscribed to, and changes."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.watched import NEEDS, watch
from assay.lab.harness.driver.stage import Stage


@official_scenario("resources-subscribe", "A subscription brings updates", needs=NEEDS)
async def drive(stage: Stage) -> None:
    await watch(stage)

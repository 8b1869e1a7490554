"""A conversation over the two endpoints of the first revision."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_SSE_ONLY


@scenario("Two endpoints", exercises=("streams.two-endpoints",), transports=HTTP_SSE_ONLY)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)

"""Pings, one after the other and with ids of both types."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario


@scenario(
    "Pings",
    exercises=("lifecycle.ping",),
    window=lambda revision: "ping" in revision.requests,
    official="ping",
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("ping")
    await peer.request("ping", request_id="a ping named by text")

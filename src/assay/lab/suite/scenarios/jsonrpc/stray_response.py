"""A response to a request that the server never sent."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.revisions.revision import Asking


@scenario(
    "A response that nobody asked for",
    exercises=("jsonrpc.reply-id",),
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.sentinel()
    async with peer.probe("stray response"):
        await peer.offer({"jsonrpc": "2.0", "id": "never asked", "result": {}})
    error = {"code": -32601, "message": "the lab does not know what you mean"}
    async with peer.probe("stray response"):
        await peer.offer({"jsonrpc": "2.0", "id": 4711, "error": error})

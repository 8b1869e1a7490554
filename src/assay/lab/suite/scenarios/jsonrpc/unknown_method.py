"""Requests for methods that no revision has."""

from __future__ import annotations

from assay.lab.harness.scenario import scenario
from assay.lab.harness.stage import Stage


@scenario(
    "Methods that do not exist",
    exercises=("jsonrpc.unknown-method", "jsonrpc.error-shape", "jsonrpc.reply-id"),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("no/such/method")
    await peer.request("no/such/method", request_id="by text")
    await peer.request("tools/no-such-verb", {"name": "anything"})

"""Requests for methods that no revision has, or that the server does not advertise."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.revisions.revision import Opening

LISTS = ("tools", "prompts", "resources")


@scenario(
    "Methods that do not exist",
    exercises=(
        "jsonrpc.unknown-method",
        "jsonrpc.error-shape",
        "jsonrpc.one-outcome",
        "jsonrpc.reply-id",
        "jsonrpc.named-errors",
        "jsonrpc.error-codes",
        "jsonrpc.error-text",
    ),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("no/such/method")
    await peer.request("no/such/method", request_id="by text")
    await peer.request("tools/no-such-verb", {"name": "anything"})
    if stage.revision.opening is Opening.PER_REQUEST:
        described = await peer.request("server/discover")
        advertised = described.result.get("capabilities")
        for name in LISTS:
            if isinstance(advertised, dict) and name not in advertised:
                await peer.request(f"{name}/list")

"""Requests with ids of every kind that the rules allow, and a text beyond ASCII among them."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario

IDS = (
    *(0, -1, 2**31, 2**53 - 1),
    *("", "0", "007", "null", "a" * 500, 'quoted "\\" and / too', "Grüße, 世界 🦊"),
)


@scenario(
    "Ids of every kind",
    exercises=("jsonrpc.reply-id", "jsonrpc.utf8", "jsonrpc.version", "jsonrpc.one-outcome"),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    for number in IDS:
        await peer.request(stage.plain, request_id=number)
    # Two that only their types tell apart, at the same time.
    pending = [await peer.start(stage.plain, request_id=number) for number in (4711, "4711")]
    for one in pending:
        await peer.answer(one)

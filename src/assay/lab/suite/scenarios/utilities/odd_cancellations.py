"""Cancellations that come too late, name nothing, or make no sense."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario

DONE = "done already"
ODD: dict[str, Any] = {
    "comes after the answer": {"requestId": DONE},
    "names a request that was never sent": {"requestId": "never sent"},
    "names no request": {"reason": "none in particular"},
    "names a request by an object": {"requestId": {"id": DONE}},
    "has no parameters": None,
}


@scenario(
    "Cancellations that mean nothing",
    exercises=(
        "utilities.odd-cancellation",
        "utilities.late-cancellation",
        "utilities.own-cancellation",
    ),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    harmless = "ping" if "ping" in stage.revision.requests else "server/discover"
    await peer.request(harmless, request_id=DONE)
    for what, params in ODD.items():
        async with peer.probe("odd cancellation", what=what):
            await peer.notify("notifications/cancelled", params)

"""Notifications that a server knows, one that it cannot know, and a request without an id, which is one."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario


@scenario(
    "Notifications of any kind",
    exercises=("jsonrpc.silent-notifications", "http.accepted-notification"),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    async with peer.probe("notification", what="unknown"):
        await peer.notify("notifications/no-such-notification", {"of": "the lab"})
    async with peer.probe("notification", what="cancels nothing"):
        await peer.notify("notifications/cancelled", {"requestId": 4711, "reason": "never sent"})
    async with peer.probe("notification", what="named like a request"):
        await peer.notify(stage.plain, declared(stage.revision, {}, {}))

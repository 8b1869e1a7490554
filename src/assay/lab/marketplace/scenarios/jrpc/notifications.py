"""Notifications that a server knows, one that it cannot know, and a request without an id, which is one."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.marketplace.declaring import BOTH

NOTIFICATION = "notification"


@scenario("Notifications of any kind", exercises=("jrpc.notifications",), transports=BOTH)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    nothing = declared(stage.revision, {}, {})
    sent = {
        "notifications/no-such-notification": {"of": "the lab"},
        "notifications/cancelled": {"requestId": "never sent", "reason": "to see who answers"},
        "tools/list": nothing,
        stage.plain: nothing,
    }
    for method, params in sent.items():
        async with peer.probe(NOTIFICATION, what=method):
            await peer.notify(method, params)

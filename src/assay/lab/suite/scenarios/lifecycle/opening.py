"""A client that takes its time: the handshake, a ping, and only then that it is ready."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Opening

WILLING = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}}
"""A client that could be asked anything: a server in a hurry would."""


@scenario(
    "A client that is not ready yet",
    exercises=(
        "lifecycle.first-interaction",
        "lifecycle.early-request",
        "lifecycle.initialize-result",
        "lifecycle.ping",
    ),
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
    official="server-initialize",
)
async def drive(stage: Stage) -> None:
    peer = await stage.connect()
    peer.capabilities = WILLING
    await peer.initialize()
    if stage.transport is Transport.HTTP:
        await peer.http.listen()
    await peer.sentinel()
    await peer.notify("notifications/initialized")
    peer.greeted = True

"""Messages that need no answer: some that a server takes, some that it need not."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY

SOUND = {"jsonrpc": "2.0", "method": "notifications/no-such-notification", "params": {"of": "the lab"}}
UNSOUND = (
    {"jsonrpc": "1.0", "method": "notifications/cancelled", "params": {"requestId": 4711}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7},
    {"method": "notifications/cancelled"},
)
RESPONSE = {"jsonrpc": "2.0", "id": "never-asked", "result": {}}


@scenario(
    "Notifications and responses that a server may refuse",
    exercises=("http.accepted-notification",),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    for message in (SOUND, RESPONSE, *UNSOUND):
        await peer.offer(message)

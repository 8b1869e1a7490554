"""A session from its beginning to its end, and a request after that."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_SESSION
from assay.lab.harness.transport import HTTP_ONLY


@official_scenario(
    "server-session-lifecycle",
    "A session that its client ends",
    needs=(A_SESSION,),
    transports=HTTP_ONLY,
    aliases=("session-lifecycle",),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    # The control: while it lives, the session is served.
    await peer.request("ping")
    ended = await peer.http.call("DELETE", headers=peer.http.session_headers())
    await ended.settled(peer.patience)
    await peer.request("ping")
    await peer.close()

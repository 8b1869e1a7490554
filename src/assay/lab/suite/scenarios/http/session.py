"""Sessions from their ids to their end, and what names them afterwards."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_SESSION
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY


@scenario(
    "Sessions, and one that its client has ended",
    exercises=("http.session-id", "http.session-rules", "http.accepted-notification"),
    needs=(A_SESSION,),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive(stage: Stage) -> None:
    other = await stage.open()
    await other.request("ping", headers={"Mcp-Session-Id": None})
    peer = await stage.open()
    # The control: while it lives, the session is served.
    await peer.request("ping")
    ended = await peer.http.call("DELETE", headers=peer.http.session_headers())
    await ended.settled(peer.patience)
    await peer.request("ping")
    await peer.notify("notifications/cancelled", {"requestId": 4711})
    await peer.taken(await peer.http.listen())
    await peer.close()

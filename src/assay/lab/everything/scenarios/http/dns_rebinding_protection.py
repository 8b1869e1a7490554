"""First requests as a browser would send them: for a page of this machine, and for pages that are not."""

from __future__ import annotations

from assay.lab.everything.declaring import official_scenario
from assay.lab.harness.driver.message_meta import CLIENT
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import LOCAL
from assay.lab.harness.transport import HTTP_ONLY
from assay.revisions.revision import Opening

FOREIGN = {"Origin": "http://evil.example.com"}
REBOUND = {"Host": "evil.example.com", **FOREIGN}
"""What a browser sends after the name of a page was made to point here."""


@official_scenario(
    "dns-rebinding-protection",
    "Pages of other sites are not served",
    needs=(LOCAL,),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    peer = await stage.connect()
    # The control: the same request for a page of this machine.
    address = peer.http.address
    own = {"Origin": f"{'https' if address.secure else 'http'}://{address.authority}"}
    reply = await _knock(peer, own)
    if stage.revision.opening is Opening.HANDSHAKE:
        peer.http.agreed(reply.head, stage.revision.date)
        await peer.offer({"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=own)
    for headers in (REBOUND, FOREIGN):
        stranger = await stage.connect()
        await _knock(stranger, headers)


async def _knock(peer: Peer, headers: dict[str, str]) -> Reply:
    """The first request that a client of this revision sends."""
    if peer.revision.opening is Opening.PER_REQUEST:
        return await peer.request("server/discover", headers=headers)
    params = {"protocolVersion": peer.revision.date, "capabilities": {}, "clientInfo": CLIENT}
    return await peer.request("initialize", params, headers=headers)

"""A server without sessions meets what older clients send."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import CLIENT
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.http_text import EVENT_STREAM
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored import METHOD, VERSION
from assay.revisions.registry import ASSUMED

OPENING = {
    "jsonrpc": "2.0",
    "id": "older",
    "method": "initialize",
    "params": {"protocolVersion": ASSUMED.date, "capabilities": {}, "clientInfo": CLIENT},
}


@scenario(
    "What older clients send",
    exercises=("http.older-traffic",),
    transports=HTTP_ONLY,
    window=lambda revision: not revision.http.sessions,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    await peer.offer(OPENING, headers={VERSION: None, METHOD: None})
    await peer.taken(await peer.http.call("GET", headers={"Accept": EVENT_STREAM}))
    deleted = await peer.http.call("DELETE", headers={"Accept": EVENT_STREAM})
    await deleted.settled(peer.patience)
    for header, value in (("Mcp-Session-Id", "of-long-ago"), ("Last-Event-ID", "0"), (VERSION, None)):
        await peer.request(stage.plain, headers={header: value})

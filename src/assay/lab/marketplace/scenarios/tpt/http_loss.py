"""Connections that break at several places, and requests that are sent again after."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.peer import Peer, encode
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.http_text import write_request
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.streamed import STREAM_FIRST


@scenario("Connections that break", exercises=("tpt.http-loss",), transports=HTTP_ONLY)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    await _cut_in_the_request(stage, peer)
    await _again(stage, peer, "cut in the request")
    unread = await peer.start(stage.plain, request_id="unread")
    assert unread.sent is not None
    await peer.http.leave(unread.sent)
    await _again(stage, peer, "cut before the answer")
    begun = await peer.start(stage.plain, request_id="begun", headers=STREAM_FIRST)
    assert begun.sent is not None
    await begun.sent.begun(stage.patience)
    await peer.http.leave(begun.sent)
    await _again(stage, peer, "cut in the answer")


async def _cut_in_the_request(stage: Stage, peer: Peer) -> None:
    message = {"jsonrpc": "2.0", "id": "cut", "method": stage.plain}
    body = encode({**message, "params": declared(stage.revision, {}, {})})
    headers = {"Host": peer.http.address.authority, **peer.http.usual(message)}
    fields = [(name, value) for name, value in headers.items() if value is not None]
    whole = [*fields, ("Content-Length", str(len(body)))]
    data = write_request("POST", peer.http.address.target, whole, body)
    await peer.http.leave(await peer.http.write("POST", data[: -len(body) // 2]))


async def _again(stage: Stage, peer: Peer, after: str) -> None:
    async with peer.probe("again", after=after):
        await peer.request(stage.plain)

"""The driver's side of a conversation, at its end."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.links.http_text import Head
from assay.lab.harness.links.link import Sent
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.recorder import Recorder
from assay.revisions.registry import HANDSHAKE
from tests.lab.traces import request

REQUEST = json.dumps(request(1, "roots/list")).encode()
FRAME = Frame(0, 0.0, Sender.SUBJECT, "1/lines", Kind.LINE, REQUEST)


class RecordingLink:
    """A link that keeps the bodies sent."""

    is_local = True

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.called = asyncio.Event()

    async def open(self) -> None: ...

    async def send(self, body: bytes, message: Any, headers: Mapping[str, str | None]) -> Sent:
        self.sent.append(body)
        self.called.set()
        return Sent("1/lines")

    def agreed(self, head: Head | None, version: str) -> None: ...

    def move(self, recorder: Recorder, name: str) -> None: ...

    async def close(self) -> None: ...


def peer_on(link: RecordingLink) -> Peer:
    recorder = Recorder(Header(HANDSHAKE[-1].date, "stdio", "by hand", "by-hand"))
    return Peer(recorder, HANDSHAKE[-1], name="1", patience=5.0, connect=lambda peer: link)


async def test_requests_of_the_subject_are_answered_until_the_peer_is_closed() -> None:
    link = RecordingLink()
    peer = peer_on(link)
    peer.deliver(FRAME, REQUEST)
    await asyncio.wait_for(link.called.wait(), 5)
    await peer.close()
    before = asyncio.all_tasks()
    peer.deliver(FRAME, REQUEST)
    assert asyncio.all_tasks() == before
    assert len(link.sent) == 1


async def test_an_error_about_another_message_does_not_answer_a_sentinel() -> None:
    link = RecordingLink()
    peer = peer_on(link)
    waiting = asyncio.ensure_future(peer.sentinel())
    await asyncio.wait_for(link.called.wait(), 5)
    for refusal in ({"error": {"code": -32700}}, {"id": 9001, "error": {"code": -32600}}):
        peer.deliver(FRAME, json.dumps({"jsonrpc": "2.0", **refusal}).encode())
    peer.deliver(FRAME, b'{"jsonrpc":"2.0","id":"sentinel-1-1","result":{}}')
    assert (await asyncio.wait_for(waiting, 5)).result == {}
    await peer.close()


async def test_the_conversation_continues_after_a_result_with_a_wrong_id() -> None:
    link = RecordingLink()
    peer = peer_on(link)
    waiting = asyncio.ensure_future(peer.sentinel())
    await asyncio.wait_for(link.called.wait(), 5)
    peer.deliver(FRAME, b'{"jsonrpc":"2.0","id":null,"result":{"x":1}}')
    assert (await asyncio.wait_for(waiting, 5)).result == {"x": 1}
    await peer.close()

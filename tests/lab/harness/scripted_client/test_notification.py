"""Waiting for notifications: each is returned once, and a missing one leaves a mark."""

import asyncio
import json
from typing import Any

from assay.lab.harness.driver.inbound import Notifications
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.links.link import Sent
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.message import Message, read_messages
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.trace.trace import NOT_RECEIVED
from assay.revisions.registry import HANDSHAKE

REVISION = HANDSHAKE[-1]
METHOD = "notifications/resources/updated"


class DeafLink:
    is_local = True

    async def open(self) -> None: ...

    async def send(self, body: bytes, message: Any, headers: Any) -> Sent:
        return Sent("1/lines")

    def agreed(self, head: Any, version: str) -> None: ...

    async def close(self) -> None: ...


def peer_and_recorder(patience: float = 5.0) -> tuple[Peer, Recorder]:
    recorder = Recorder(Header(REVISION.date, "stdio", "by hand", "by-hand"))
    peer = Peer(recorder, REVISION, name="1", patience=patience, connect=lambda peer: DeafLink())
    return peer, recorder


def message(fields: dict[str, Any]) -> Message:
    body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
    (read,) = read_messages(Frame(0, 0.0, Sender.SUBJECT, "1/lines", Kind.LINE, body + b"\n"), body)
    return read


def say(peer: Peer, recorder: Recorder, message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    peer.deliver(recorder.record(Sender.SUBJECT, "1/lines", Kind.LINE, body + b"\n"), body)


async def test_each_notification_is_heard_once_and_in_order() -> None:
    peer, recorder = peer_and_recorder()
    for number in (1, 2):
        say(peer, recorder, {"method": METHOD, "params": {"uri": "a:1", "number": number}})
    notifications = [await peer.wait_for(METHOD, uri="a:1") for _ in range(2)]
    assert [message.params["number"] for message in notifications if message] == [1, 2]


async def test_a_notification_may_come_while_it_is_waited_for() -> None:
    notices = Notifications()

    async def speak() -> None:
        for uri in ("a:1", "a:2"):
            notices.take(message({"method": METHOD, "params": {"uri": uri}}))

    notification, _ = await asyncio.gather(notices.next(METHOD, {"uri": "a:2"}), speak())
    assert notification.params == {"uri": "a:2"}


async def test_one_that_does_not_come_leaves_a_mark() -> None:
    peer, recorder = peer_and_recorder(patience=0.01)
    assert await peer.wait_for(METHOD, uri="a:1") is None
    (mark,) = recorder.trace(closed=True).marks(NOT_RECEIVED)
    assert mark.info["method"] == METHOD and mark.info["params"] == {"uri": "a:1"}


async def test_an_answer_to_the_request_ends_the_waiting_without_a_mark() -> None:
    peer, recorder = peer_and_recorder()
    pending = await peer.start("subscriptions/listen")
    say(peer, recorder, {"id": pending.id, "result": {}})
    assert await peer.wait_for(METHOD, during=pending) is None
    assert not list(recorder.trace(closed=True).marks(NOT_RECEIVED))

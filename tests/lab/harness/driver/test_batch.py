"""Batches of the driver, and requests that a scenario sends as raw bytes."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.links.broken_off import NoAnswer
from assay.lab.harness.links.stdio import StdioLink, Wire
from assay.lab.harness.sabotage.saboteur import Conversation
from assay.lab.harness.sabotage.wire import ScriptedWire
from assay.lab.harness.trace.frame import Header
from assay.lab.harness.trace.recorder import Recorder
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from tests.lab.traces import request, result

FIRST, SECOND = request("a", "ping"), request("b", "ping")
NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/x"}
REFUSED = {"jsonrpc": "2.0", "error": {"code": -32600, "message": "no"}}


@asynccontextmanager
async def peer_with(reply: Callable[[Any], list[Any]], patience: float = 5.0) -> AsyncIterator[Peer]:
    """A peer whose subject answers each body with the messages that `reply` returns."""

    async def respond(conversation: Conversation, revision: Revision) -> None:
        while (message := await conversation.receive()) is not None:
            for answer in reply(message):
                conversation.send(answer)

    async def spawn(on_error: Callable[[bytes], None]) -> Wire:
        return ScriptedWire(respond, HANDSHAKE[-1])

    recorder = Recorder(Header(HANDSHAKE[-1].date, "stdio", "by hand", "by-hand"))
    peer = Peer(
        recorder,
        HANDSHAKE[-1],
        name="1",
        patience=patience,
        connect=lambda inbox: StdioLink(spawn, inbox, recorder, name="1"),
    )
    await peer.link.open()
    try:
        yield peer
    finally:
        await peer.close()


@pytest.mark.parametrize(
    "answers", [[[result("b"), result("a")]], [result("a"), result("b")], [REFUSED], [[REFUSED]]]
)
async def test_batch_ends_when_its_requests_or_the_whole_batch_are_answered(answers: list[Any]) -> None:
    async with peer_with(lambda message: answers if isinstance(message, list) else [result(1)]) as peer:
        await peer.batch(FIRST, NOTIFICATION, SECOND)
        assert (await peer.request("ping")).is_result


async def test_unanswered_request_of_a_batch_is_an_error() -> None:
    async with peer_with(lambda message: [result("a")], patience=0.05) as peer:
        with pytest.raises(NoAnswer):
            await peer.batch(FIRST, SECOND)


async def test_scenario_can_wait_for_the_answer_to_raw_bytes() -> None:
    async with peer_with(lambda message: [result(message["id"], seen=message["id"])]) as peer:
        requests = [peer.expect("ping", name) for name in ("a", "b")]
        await peer.stdio.write(b"".join(json.dumps(body).encode() + b"\n" for body in (FIRST, SECOND)))
        replies = [await peer.answer(pending) for pending in reversed(requests)]
    assert [reply.result for reply in replies] == [{"seen": "b"}, {"seen": "a"}]

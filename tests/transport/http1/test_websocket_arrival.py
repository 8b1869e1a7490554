"""WebSocket messages that do not arrive, or do not fit into the byte budget."""

from __future__ import annotations

import asyncio

import pytest

from assay.protocol.framing.websocket import CONTINUATION, PING, TEXT, frame
from assay.transport.http1.websocket_state import QUEUE_BYTES
from tests.transport.http1.test_websocket import MASK, Harness


async def test_unfinished_message_is_closed_at_its_deadline() -> None:
    harness = await Harness(body_timeout=30.0, ping_interval=None).opened()
    harness.feed(TEXT, b"begun", fin=False)
    harness.pass_time(29)
    assert not harness.wire.ended
    harness.pass_time(1)
    closing = harness.closing()
    assert (closing.code, closing.reason) == (1008, "message did not arrive within 30 s")
    assert (await harness.receive())["code"] == 1008
    await harness.end()


@pytest.mark.parametrize(
    "more", [frame(PING, b"", mask=MASK), frame(CONTINUATION, b"x", fin=False, mask=MASK)]
)
async def test_what_arrives_in_a_message_does_not_extend_its_deadline(more: bytes) -> None:
    harness = await Harness(body_timeout=30.0).opened()
    harness.feed(TEXT, b"begun", fin=False)
    for _ in range(30):
        harness.connection.data_received(more)
        harness.frames()
        assert not harness.wire.ended
        harness.pass_time(1)
    assert harness.closing().code == 1008
    await harness.end()


async def test_unfinished_frame_is_closed_at_its_deadline() -> None:
    harness = await Harness(body_timeout=30.0, ping_interval=None).opened()
    harness.connection.data_received(frame(TEXT, b"begun", mask=MASK)[:1])
    harness.pass_time(30)
    assert harness.closing().code == 1008
    await harness.end()


async def test_each_message_has_its_own_deadline() -> None:
    harness = await Harness(body_timeout=30.0, ping_interval=None).opened()
    whole = frame(TEXT, b"whole", mask=MASK)
    harness.connection.data_received(whole[:-1])
    for _ in range(4):
        harness.pass_time(20)
        assert not harness.wire.ended
        harness.connection.data_received(whole[-1:] + whole[:-1])
        assert (await harness.receive())["text"] == "whole"
    harness.connection.data_received(whole[-1:])
    harness.pass_time(1000)
    assert not harness.wire.ended
    await harness.end()


async def test_message_may_take_longer_while_the_server_does_not_read() -> None:
    harness = await Harness(body_timeout=30.0, ping_interval=None).opened()
    harness.feed(TEXT, b"x" * QUEUE_BYTES)
    harness.connection.data_received(frame(TEXT, b"begun", mask=MASK)[:-1])
    assert not harness.wire.reading
    harness.pass_time(1000)
    assert not harness.wire.ended
    await harness.receive()
    assert harness.wire.reading
    harness.pass_time(29)
    assert not harness.wire.ended
    harness.pass_time(1)
    assert harness.closing().code == 1008
    await harness.end()


# Bytes in flight


async def crowded() -> Harness:
    """A connection to a server on which others hold nine tenths of the byte budget."""
    harness = await Harness(message_bytes=100_000, inflight_bytes=1_000_000).opened()
    for client in range(45):
        assert harness.server._budget.share(client).resize(20_000)
    return harness


async def test_message_for_which_there_is_no_room_is_refused_by_its_head() -> None:
    harness = await crowded()
    harness.connection.data_received(frame(TEXT, b"x" * 90_000, mask=MASK)[:1000])
    closing = harness.closing()
    assert (closing.code, "too many bytes in flight" in closing.reason) == (1013, True)
    assert harness.server._budget.used == 900_000
    await harness.end()


async def test_fragments_count_together() -> None:
    harness = await crowded()
    harness.feed(TEXT, b"x" * 30_000, fin=False)
    harness.feed(CONTINUATION, b"x" * 19_000, fin=False)
    assert harness.server._budget.used == 949_000
    harness.feed(CONTINUATION, b"x" * 19_000, fin=False)
    assert harness.closing().code == 1013
    await harness.end()


async def test_message_counts_until_the_application_takes_it() -> None:
    harness = await crowded()
    whole = frame(TEXT, b"x" * 40_000, mask=MASK)
    harness.connection.data_received(whole[:-1])
    harness.connection.data_received(whole[-1:])
    assert harness.server._budget.used > 940_000
    await harness.receive()
    assert harness.server._budget.used == 900_000
    await harness.end()


@pytest.mark.parametrize("unfinished", [True, False])
async def test_connection_that_is_lost_gives_its_bytes_back(unfinished: bool) -> None:
    harness = await crowded()
    harness.feed(TEXT, b"x" * 40_000, fin=not unfinished)
    harness.connection.pause_writing()
    harness.connection.connection_lost(None)
    assert harness.server._budget.used == 900_000
    await harness.end()


async def test_client_that_leaves_too_much_unread_is_cut_off() -> None:
    harness = await crowded()
    harness.wire.written = b"x" * 60_000
    harness.connection.pause_writing()
    await asyncio.wait([harness.outcome], timeout=0)
    assert harness.wire.ended == "abort"
    await harness.end()

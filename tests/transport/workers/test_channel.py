"""The channel between parent and worker: whole messages, no blocking, and an end that is noticed."""

import socket
from collections.abc import Iterator

import pytest

from assay.transport.workers.channel import MESSAGE_BYTES, UNSENT_BYTES, Channel, ChannelClosed, Message


@pytest.fixture
def pair() -> Iterator[tuple[Channel, Channel]]:
    left, right = socket.socketpair()
    ends = Channel(left), Channel(right)
    yield ends
    for end in ends:
        end.close()


def received(channel: Channel, count: int, sender: Channel) -> list[Message]:
    messages: list[Message] = []
    while len(messages) < count:
        sender.flush()
        messages += channel.receive()
    return messages


def test_messages_arrive_in_order(pair: tuple[Channel, Channel]) -> None:
    here, there = pair
    for number in range(3):
        here.send({"number": number})
    assert there.receive() == [{"number": 0}, {"number": 1}, {"number": 2}]
    assert there.receive() == []


def test_long_message_arrives_whole_in_many_parts(pair: tuple[Channel, Channel]) -> None:
    here, there = pair
    text = "x" * (MESSAGE_BYTES // 2)
    here.send({"text": text})
    assert here.has_unsent
    assert received(there, 1, here) == [{"text": text}]
    assert not here.has_unsent


def test_messages_before_the_end_are_received_and_then_the_end_is_reported(
    pair: tuple[Channel, Channel],
) -> None:
    here, there = pair
    here.send({"last": True})
    here.close()
    assert there.receive() == [{"last": True}]
    with pytest.raises(ChannelClosed):
        there.receive()


def test_sending_to_a_process_that_has_ended_is_no_error(pair: tuple[Channel, Channel]) -> None:
    here, there = pair
    there.close()
    here.send({"lost": 1})
    here.send({"lost": 2})
    assert not here.has_unsent
    with pytest.raises(ChannelClosed):
        here.receive()


def test_reader_that_does_not_read_costs_a_bounded_number_of_bytes(pair: tuple[Channel, Channel]) -> None:
    here, there = pair
    part = "x" * (UNSENT_BYTES // 8)
    for _ in range(32):
        here.send({"text": part})
    arrived = 0
    while here.has_unsent:
        here.flush()
        arrived += len(there.receive())
    assert 8 <= arrived + len(there.receive()) <= 9


@pytest.mark.parametrize(
    "data", [b"not json\n", b"[1]\n", b'"text"\n', b"\xff\n", b"x" * (MESSAGE_BYTES + 1)]
)
def test_other_end_that_sends_no_messages_counts_as_gone(data: bytes, pair: tuple[Channel, Channel]) -> None:
    here, there = pair
    view = memoryview(data)

    def read() -> None:
        nonlocal view
        while True:
            if view:
                view = view[here.socket.send(view) :]
            there.receive()

    with pytest.raises(ChannelClosed):
        read()

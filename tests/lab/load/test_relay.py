"""A poor network: bytes are late, in order, and some connections are reset."""

import asyncio

import pytest

from assay.lab.harness.transport import Transport
from assay.lab.load.endpoint import Endpoint
from assay.lab.load.relay import RETRANSMISSION, Impairment, Relay, impaired
from tests.lab.load.scripted import answer, measured, scripted

MS = 10**6


def test_pieces_are_delayed_and_lost_in_proportion() -> None:
    relay = Relay(Impairment(jitter=0.05, loss=0.01, resets=0.002), "", 0)
    delays = [relay.delay() for _ in range(20_000)]
    passed = [delay for delay in delays if delay is not None]
    late = [delay for delay in passed if delay >= RETRANSMISSION]
    assert 20 <= len(delays) - len(passed) <= 60
    assert 140 <= len(late) <= 260
    assert max(passed) <= RETRANSMISSION + 0.05


def test_same_seed_delays_alike() -> None:
    first, second = (Relay(Impairment(seed=7), "", 0) for _ in range(2))
    assert [first.delay() for _ in range(50)] == [second.delay() for _ in range(50)]


async def test_answers_are_as_late_as_the_network_is() -> None:
    async with scripted(answer) as endpoint:
        assert endpoint.address is not None
        host, port = endpoint.address.host, endpoint.address.port
        async with impaired(host, port, Impairment(jitter=0.0, loss=1.0, resets=0.0)) as (_, near):
            via = Endpoint(Transport.HTTP, url="http://server.example/", via=near)
            tally = await measured(via, seconds=0.1)
    assert not tally.errors
    # The request and its answer are each sent again.
    assert tally.latencies().lowest >= 2 * RETRANSMISSION * 1000 * MS * 0.99


async def test_resets_are_counted_by_the_relay_and_seen_by_the_generator() -> None:
    async with scripted(answer) as endpoint:
        assert endpoint.address is not None
        host, port = endpoint.address.host, endpoint.address.port
        async with impaired(host, port, Impairment(jitter=0.0, loss=0.0, resets=0.2)) as (relay, near):
            via = Endpoint(Transport.HTTP, url="http://server.example/", via=near)
            tally = await measured(via, users=8, seconds=0.2)
    assert relay.resets > 0
    assert set(tally.errors) <= {"reset", "connect"}
    assert tally.errors["reset"] <= relay.resets


async def test_nothing_is_lost_or_changed_on_the_way() -> None:
    data = bytes(range(256)) * 3000
    received = bytearray()
    done = asyncio.Event()

    class Sink(asyncio.Protocol):
        def data_received(self, piece: bytes) -> None:
            received.extend(piece)
            if len(received) >= len(data):
                done.set()

    loop = asyncio.get_running_loop()
    server = await loop.create_server(Sink, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with impaired("127.0.0.1", port, Impairment(jitter=0.01, loss=0.0, resets=0.0)) as (_, near):
        transport, _ = await loop.create_connection(asyncio.Protocol, "127.0.0.1", near)
        transport.write(data)
        async with asyncio.timeout(10):
            await done.wait()
        transport.close()
    server.close()
    assert bytes(received) == data


@pytest.mark.parametrize("word", ["relay", "replace packet loss"])
def test_facts_say_that_packets_are_not_really_lost(word: str) -> None:
    assert word in str(Impairment().as_facts()["method"])

"""stdio and WebSocket: many requests at once, and what breaks them."""

import asyncio
import sys

import pytest

from assay.lab.harness.transport import Transport
from assay.lab.load.bare_server import WebSocketAnswers
from assay.lab.load.endpoint import Endpoint
from assay.lab.load.floor import MODULE, measure_floor
from assay.lab.load.message_wire import MessageWire
from assay.lab.load.operation import Operation, encode
from assay.lab.load.wire import OpeningFailed, Receiver, WireSettings
from tests.lab.load.scripted import CALL, HANDSHAKE, PER_REQUEST, STREAM, measured, result

SETTINGS = WireSettings(HANDSHAKE, {each.name: encode(each, HANDSHAKE) for each in (CALL, STREAM)}, 5.0)


class Loopback(MessageWire):
    """Its messages go to a list, and a test answers them."""

    def __init__(self, receiver: Receiver) -> None:
        super().__init__(SETTINGS, receiver)
        self.written: list[bytes] = []
        self._write = self.written.append


class Recorded:
    def __init__(self) -> None:
        self.ended: list[tuple[str, str | None]] = []
        self.messages: list[bytes] = []

    def completed(
        self, wire: object, operation: Operation, intended: int, at: int, error: str | None
    ) -> None:
        self.ended.append((operation.name, error))

    def message(self, operation: Operation, sent: int, previous: int, at: int, message: bytes) -> None:
        self.messages.append(message)


def sent(*operations: Operation) -> tuple[Loopback, Recorded]:
    recorded = Recorded()
    wire = Loopback(recorded)
    for operation in operations:
        wire.send(operation, 0)
    return wire, recorded


FIRST = 10**9 + 1


def test_answers_may_come_in_any_order() -> None:
    wire, recorded = sent(CALL, STREAM)
    wire.take(result(FIRST + 1))
    wire.take(result(FIRST, b'{"isError":true}'))
    assert recorded.ended == [("streams add", None), ("calls add", "tool error")]
    assert wire.in_flight == 0


def test_progress_belongs_to_the_request_with_its_token() -> None:
    wire, recorded = sent(CALL, STREAM)
    for token in (FIRST + 1, 7):
        wire.take(
            b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d}}' % token
        )
    assert len(recorded.messages) == 1


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (b"not JSON", "invalid answer"),
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}', "rpc -32700"),
        (b'{"jsonrpc":"2.0","id":1000000001}', "invalid answer"),
    ],
)
def test_bad_answer_ends_the_oldest_request(message: bytes, error: str) -> None:
    wire, recorded = sent(CALL, STREAM)
    wire.take(message)
    assert recorded.ended == [("calls add", error)]


def test_answer_to_nothing_is_ignored() -> None:
    wire, recorded = sent(CALL)
    wire.take(result(5))
    assert not recorded.ended


def test_pings_are_answered_and_other_requests_refused() -> None:
    wire, _ = sent()
    wire.take(b'{"jsonrpc":"2.0","id":"p","method":"ping"}')
    wire.take(b'{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage"}')
    assert wire.written[0] == b'{"jsonrpc":"2.0","id":"p","result":{}}'
    assert b"-32601" in wire.written[1]


def test_lost_connection_ends_all_requests() -> None:
    wire, recorded = sent(CALL, CALL)
    wire.abort()
    assert recorded.ended == [("calls add", "reset")] * 2
    assert not wire.is_usable


def test_requests_time_out_one_by_one() -> None:
    wire, recorded = sent(CALL, CALL)
    wire.expire(2**62)
    assert recorded.ended == [("calls add", "timeout")] * 2
    assert wire.is_usable


async def test_process_answers_over_its_standard_streams() -> None:
    endpoint = Endpoint(Transport.STDIO, command=(sys.executable, "-S", "-c", ECHO))
    tally = await measured(endpoint)
    assert tally.kinds["calls"].count > 1
    assert not tally.errors


async def test_process_that_ends_is_a_reset_and_is_started_again() -> None:
    endpoint = Endpoint(Transport.STDIO, command=(sys.executable, "-S", "-c", DIES))
    tally = await measured(endpoint, seconds=0.2)
    assert set(tally.errors) == {"reset"}


async def test_program_that_does_not_exist_is_named() -> None:
    with pytest.raises(OpeningFailed, match="cannot be run"):
        await measured(Endpoint(Transport.STDIO, command=("/does/not/exist",)))


async def test_websocket_answers() -> None:
    server = await asyncio.get_running_loop().create_server(WebSocketAnswers, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    tally = await measured(Endpoint(Transport.WEBSOCKET, url=f"ws://127.0.0.1:{port}/"), users=2, rate=200)
    server.close()
    assert tally.kinds["calls"].count in (20, 21)


async def test_refused_websocket_is_named() -> None:
    from tests.lab.load.scripted import answer, scripted

    async with scripted(answer) as endpoint:
        assert endpoint.address is not None
        url = f"ws://127.0.0.1:{endpoint.address.port}/"
        with pytest.raises(OpeningFailed, match="http 202"):
            await measured(Endpoint(Transport.WEBSOCKET, url=url))


async def test_floor_is_measured_with_a_server_that_does_no_work() -> None:
    settings = WireSettings(PER_REQUEST, {CALL.name: encode(CALL, PER_REQUEST)}, 5.0)
    floor = await measure_floor(Transport.HTTP, settings, [CALL], users=2)
    assert floor is not None
    assert floor.rate > 0 and floor.cpu_us > 0
    assert MODULE.startswith("assay.")


ECHO = """
import re, sys
for line in sys.stdin:
    found = re.search(r'"id":(\\d+)', line)
    if found:
        print('{"jsonrpc":"2.0","id":%s,"result":{}}' % found[1], flush=True)
"""
DIES = ECHO.replace("if found:", "if 'tools/call' in line: sys.exit()\n    if found:")

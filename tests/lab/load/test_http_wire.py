"""What a server can do to a request over HTTP, by kind; a hostile one does not exhaust memory."""

import asyncio

import pytest

from assay.lab.load.wire import MOST_BYTES
from tests.lab.load.scripted import (
    CALL,
    STREAM,
    Reply,
    answer,
    measured,
    response,
    result,
    scripted,
)


def says(data: bytes) -> Reply:
    return lambda transport, request_id: transport.write(data)


def rpc_error(transport: asyncio.Transport, request_id: int) -> None:
    body = b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"no"}}' % request_id
    transport.write(response(body))


def tool_error(transport: asyncio.Transport, request_id: int) -> None:
    transport.write(response(result(request_id, b'{"isError":true,"content":[]}')))


def events(*payloads: bytes, end: bool = True) -> bytes:
    body = b"".join(b"data: %b\n\n" % payload for payload in payloads)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"%x\r\n%b\r\n" % (len(body), body) + (b"0\r\n\r\n" if end else b"")


def endless_event(transport: asyncio.Transport, request_id: int) -> None:
    transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ")
    flood(transport)


def endless_head(transport: asyncio.Transport, request_id: int) -> None:
    transport.write(b"HTTP/1.1 200 OK\r\nX: ")
    flood(transport)


def endless_body(transport: asyncio.Transport, request_id: int) -> None:
    transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    flood(transport)


def flood(transport: asyncio.Transport) -> None:
    for _ in range(MOST_BYTES // 2**20 + 2):
        transport.write(b"x" * 2**20)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (says(response(b"oops", "500 Internal Server Error")), "http 500"),
        (says(response(b"", "404 Not Found")), "http 404"),
        (lambda transport, request_id: transport.abort(), "reset"),
        (says(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"), "timeout"),
        (lambda transport, request_id: None, "timeout"),
        (says(response(b"{nonsense")), "invalid answer"),
        (says(response(b"[1]")), "invalid answer"),
        (says(response(b"\xff\xfe")), "invalid answer"),
        (says(response(b"", "202 Accepted")), "invalid answer"),
        (says(response(result(1))), "invalid answer"),
        (says(b"SSH-2.0-OpenSSH\r\n\r\n"), "invalid answer"),
        (rpc_error, "rpc -32603"),
        (tool_error, "tool error"),
        (says(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{"), "too large"),
        (endless_body, "too large"),
        (endless_event, "too large"),
        (endless_head, "invalid answer"),
        (says(events(b'{"jsonrpc":"2.0","method":"notifications/x"}')), "reset"),
    ],
)
async def test_errors_are_counted_by_kind(reply: Reply, kind: str) -> None:
    async with scripted(reply) as endpoint:
        tally = await measured(endpoint, seconds=0.05, timeout=0.2)
    assert set(tally.errors) == {kind}
    assert tally.failed == tally.operations > 0
    assert not tally.kinds


def split_answer(transport: asyncio.Transport, request_id: int) -> None:
    data = b"HTTP/1.1 103 Early Hints\r\n\r\n" + response(result(request_id))
    loop = asyncio.get_running_loop()
    for number in range(0, len(data), 40):
        loop.call_soon(transport.write, data[number : number + 40])


def closing_answer(transport: asyncio.Transport, request_id: int) -> None:
    transport.write(response(result(request_id), extra="Connection: close\r\n"))
    transport.close()


def unmeasured_answer(transport: asyncio.Transport, request_id: int) -> None:
    transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + result(request_id))
    transport.close()


def chunked_answer(transport: asyncio.Transport, request_id: int) -> None:
    body = result(request_id)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    transport.write(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))


def streamed_answer(transport: asyncio.Transport, request_id: int) -> None:
    transport.write(events(b'{"jsonrpc":"2.0","method":"notifications/message"}', result(request_id)))


@pytest.mark.parametrize(
    "reply", [answer, split_answer, closing_answer, unmeasured_answer, chunked_answer, streamed_answer]
)
async def test_every_form_of_an_answer_is_read(reply: Reply) -> None:
    async with scripted(reply) as endpoint:
        tally = await measured(endpoint, users=2)
    assert not tally.errors
    assert tally.kinds["calls"].count == tally.operations > 1


async def test_stream_that_stays_open_after_its_answer_is_given_up() -> None:
    def reply(transport: asyncio.Transport, request_id: int) -> None:
        transport.write(events(result(request_id), end=False))

    async with scripted(reply) as endpoint:
        tally = await measured(endpoint, timeout=0.2)
    assert not tally.errors
    assert tally.operations


async def test_messages_of_a_stream_are_timed_by_the_clock_of_the_server() -> None:
    from assay.lab.load.wire import now

    def reply(transport: asyncio.Transport, request_id: int) -> None:
        progress = (
            b'{"jsonrpc":"2.0","method":"notifications/progress","params":'
            b'{"progressToken":%d,"progress":1,%b}}'
        )
        old = progress % (request_id, b'"message":"monotonic_ns=%d"' % (now() - 70_000_000))
        new = progress % (request_id, b'"_meta":{"dev.assay/sentAtNs":%d}' % now())
        transport.write(events(old, new, result(request_id)))

    async with scripted(reply) as endpoint:
        tally = await measured(endpoint, operation=STREAM)
    assert tally.stamped.count == 2 * tally.first_message.count > 0
    assert tally.stamped.highest >= 70_000_000
    assert tally.gaps.count == tally.first_message.count


async def test_lost_session_is_opened_again() -> None:
    calls = []

    def reply(transport: asyncio.Transport, request_id: int) -> None:
        calls.append(request_id)
        transport.write(response(b"", "404 Not Found") if len(calls) == 1 else response(result(request_id)))

    async with scripted(reply) as endpoint:
        tally = await measured(endpoint, operation=CALL)
    assert tally.errors == {"http 404": 1}
    assert tally.kinds["calls"].count

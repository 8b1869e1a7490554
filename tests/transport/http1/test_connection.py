"""Requests in sequence on one connection, in chunks of any size."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.protocol.http.asgi import AsgiScope, Receive, Transmit
from assay.transport.http1.request_cycle import BUFFERED
from tests.transport.http1.memory_client import (
    READ,
    App,
    MemoryClient,
    chunked,
    echo,
    echo_at_once,
    get,
    length,
    not_reached,
    part,
    post,
    read_body,
    settle,
    start,
    whole_send,
)

H2C = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABk")


async def describe(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
    """Echoes the request, in the way that the path names."""
    whole = whole_send(send).take_whole_body() if scope["path"] == "/at-once" else None
    body = await read_body(receive) if whole is None else whole
    answer = b"%b %b %b" % (scope["method"].encode(), scope["query_string"], body)
    if scope["path"] == "/at-once":
        return whole_send(send).respond(200, (), answer)
    await send(start(200, *([length(len(answer))] if scope["path"] == "/length" else [])))
    await send(part(answer[:7], more=True))
    await send(part(answer[7:]))


class Sent(NamedTuple):
    data: bytes
    method: str
    answer: bytes


@st.composite
def requests(draw: Any) -> Sent:
    path = draw(st.sampled_from([b"/at-once", b"/length", b"/chunks"]))
    query = draw(st.text("abc", max_size=3)).encode()
    lines = draw(st.sampled_from([(), H2C, (b"x: y",), (b"expect: 100-continue",)]))
    target = b"%b?%b" % (path, query)
    body = draw(st.binary(max_size=30))
    framing = draw(st.sampled_from(["none", "head", "length", "chunks"]))
    if framing in ("none", "head"):
        method = b"GET" if framing == "none" else b"HEAD"
        answer = b"" if framing == "head" else b"GET %b " % query
        return Sent(get(target, *lines, method=method), method.decode(), answer)
    if framing == "length":
        data = post(body, *lines, target=target)
    else:
        cut = draw(st.integers(0, len(body)))
        trailers = draw(st.sampled_from([(), (b"x-trailer: 1",)]))
        data = chunked(*filter(None, (body[:cut], body[cut:])), lines=lines, trailers=trailers)
        data = data.replace(b"POST / ", b"POST %b " % target)
    return Sent(data, "POST", b"POST %b %b" % (query, body))


def cut_up(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@given(
    sent=st.lists(requests(), max_size=5), cuts=st.lists(st.integers(0, 3000), max_size=8), wait=st.booleans()
)
def test_responses_do_not_depend_on_chunking(sent: list[Sent], cuts: list[int], wait: bool) -> None:
    async def main() -> None:
        client = MemoryClient(describe)
        for piece in cut_up(b"".join(each.data for each in sent), cuts):
            client.wire.deliver(piece)
            if wait:
                await settle()
        await client.all_taken()
        answers = client.answers(*(each.method for each in sent))
        assert [each.answer for each in sent] == [each.body for each in answers]
        assert not client.wire.ended
        await client.leave()

    asyncio.run(main())


@given(data=st.binary(max_size=200), cuts=st.lists(st.integers(0, 200), max_size=3), good=st.booleans())
def test_any_bytes_are_incomplete_or_refused(data: bytes, cuts: list[int], good: bool) -> None:
    """For any input, the server sends valid responses or none, and stays alive."""

    async def main() -> None:
        client = await MemoryClient(echo).send(*cut_up((get() if good else b"") + data, cuts))
        for each in client.answers("POST", "POST", "POST"):
            assert each.status in (200, 400, 501, 505)
        await client.leave()

    asyncio.run(main())


# Persistent connections


async def test_connection_is_kept_until_the_client_ends_it() -> None:
    client = await MemoryClient(echo).send(get(), get())
    await client.send(get())
    assert len(client.answers("GET", "GET", "GET")) == 3
    assert b"connection" not in client.answers("GET", "GET", "GET")[0].headers
    assert not client.wire.ended
    await client.leave()


@pytest.mark.parametrize("value", [b"close", b"Close", b"keep-alive, close"])
async def test_client_may_end_the_connection_with_a_request(value: bytes) -> None:
    client = await MemoryClient(echo).send(get(b"/", b"Connection: " + value))
    (answer,) = client.answers("GET")
    assert answer.headers[b"connection"] == b"close"
    assert client.wire.ended == "close"
    await client.leave()


async def test_nothing_is_served_after_a_request_that_ends_the_connection() -> None:
    """RFC 9112, 9.6. Input is still read, because a reset could overtake the response."""
    client = await MemoryClient(echo).send(post(b"one", b"connection: close") + post(b"two"))
    assert [each.body for each in client.answers("POST", "POST")] == [b"one"]
    assert (client.wire.ended, client.wire.reading) == ("eof", True)
    await client.leave()


async def test_responses_are_sent_in_order() -> None:
    doors = {"/slow": asyncio.Event(), "/fast": asyncio.Event()}
    reached = []

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        reached.append(scope["path"])
        await doors[scope["path"]].wait()
        whole_send(send).respond(200, (), scope["path"].encode())

    client = await MemoryClient(app).send(get(b"/slow") + get(b"/fast"), get(b"/slow"))
    doors["/fast"].set()
    await settle()
    assert (reached, client.wire.written, client.wire.reading) == (["/slow"], b"", False)
    doors["/slow"].set()
    await settle()
    assert [each.body for each in client.answers("GET", "GET", "GET")] == [b"/slow", b"/fast", b"/slow"]
    assert client.wire.reading
    await client.leave()


# Flow control


async def test_unread_body_pauses_reading() -> None:
    taken = asyncio.Event()

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await taken.wait()
        await echo(scope, receive, send)

    body = b"x" * (20 * BUFFERED)
    client = await MemoryClient(app).send(post(body))
    assert not client.wire.reading
    assert client.wire.owed > len(body) - 3 * max(READ, BUFFERED)
    taken.set()
    await client.all_taken()
    assert (client.answer.body == body, client.wire.reading, client.wire.owed) == (True, True, 0)
    await client.leave()


@pytest.mark.parametrize("app", [echo, echo_at_once])
async def test_client_that_reads_no_answers_gets_no_further_ones(app: App) -> None:
    """Otherwise small requests could fill the memory with responses."""
    client = MemoryClient(app)
    client.wire.stop_reading()
    request = post(b"x" * 1000)
    await client.send(request * 1000)
    assert not client.wire.reading
    assert client.wire.get_write_buffer_size() < 2 * 64 * 1024
    assert client.wire.owed > 0
    client.wire.read()
    await client.all_taken()
    assert len(client.answers(*["POST"] * 1000)) == 1000
    await client.leave()


async def test_request_after_an_unread_answer_waits_for_its_turn() -> None:
    paths = []

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        paths.append(scope["path"])
        whole_send(send).respond(200, (), b"x" * 100_000)

    client = MemoryClient(app)
    client.wire.stop_reading()
    await client.send(get(b"/one") + get(b"/two"), get(b"/three"))
    assert (paths, client.wire.reading) == (["/one"], False)
    client.wire.read()
    await settle()
    assert (paths, client.wire.reading) == (["/one", "/two", "/three"], True)
    await client.leave()


# Early responses


async def refuse_at_once(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
    await send(start(413, length(9)))
    await send(part(b"too large"))


@pytest.mark.parametrize("half_closes", [True, False], ids=["tcp", "tls"])
async def test_early_answer_reaches_a_client_that_is_still_sending(half_closes: bool) -> None:
    """RFC 9112, 9.6: first only our half is closed, and input is discarded."""
    client = MemoryClient(refuse_at_once, half_closes=half_closes)
    await client.send(post(b"x" * 500_000)[:300_000])
    assert (client.answer.status, client.answer.body) == (413, b"too large")
    assert client.answer.headers[b"connection"] == b"close"
    assert (client.wire.ended, client.wire.lost) == ("eof" if half_closes else "", False)
    await client.send(b"x" * 200_000, get())
    assert (client.wire.owed, len(client.answers("POST"))) == (0, 1)
    await client.pass_time(3)
    assert (client.wire.ended, client.wire.lost) == ("close", True)
    await client.leave()


async def test_early_answer_that_is_long_is_not_cut_short() -> None:
    """The connection is closed eventually, but not before the client has read the response."""

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        whole_send(send).respond(403, (), b"x" * 500_000)

    client = MemoryClient(app, write_timeout=30.0)
    client.wire.stop_reading()
    await client.send(post(b"x" * 500_000)[:300_000])
    await client.pass_time(20)
    assert (client.wire.ended, client.wire.lost) == ("eof", False)
    client.wire.read()
    await client.pass_time(1)
    assert not client.wire.lost
    await client.pass_time(2)
    assert (client.wire.ended, client.wire.lost) == ("close", True)
    await client.leave()


# Malformed input


async def test_garbage_before_any_request() -> None:
    client = await MemoryClient(not_reached).send(b"hello\r\n\r\n")
    assert (client.answer.status, client.wire.ended) == (400, "eof")
    assert b"not a valid HTTP request" in client.answer.body
    await client.send(get())
    assert len(client.answers("POST")) == 1
    await client.leave()


@pytest.mark.parametrize("cuts", [[], [1000], list(range(1000))], ids=["at once", "in two", "byte by byte"])
async def test_garbage_is_refused_after_all_requests_before_it_are_answered(cuts: list[int]) -> None:
    client = await MemoryClient(describe).send(
        *cut_up(get(b"/length?a") * 10 + b"hello\r\n\r\n" + get(), cuts)
    )
    await client.all_taken()
    assert [each.status for each in client.answers(*["GET"] * 12)] == [200] * 10 + [400]
    assert client.wire.ended == "eof"
    await client.leave()


async def test_garbage_behind_an_answer_that_is_not_read_waits_for_that() -> None:
    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        whole_send(send).respond(200, (), b"x" * 100_000)

    client = MemoryClient(app)
    client.wire.stop_reading()
    await client.send(get() + b"hello\r\n\r\n")
    assert (len(client.answers("GET", "GET")), client.wire.ended) == (1, "")
    client.wire.read()
    await settle()
    assert [each.status for each in client.answers("GET", "GET")] == [200, 400]
    assert client.wire.ended == "eof"
    await client.leave()


BAD_CHUNK = get(b"/", b"transfer-encoding: chunked", method=b"POST") + b"1\r\nx\r\nforty\r\n"


@pytest.mark.parametrize("app", [echo, echo_at_once])
async def test_garbage_instead_of_a_body_is_refused(app: App, caplog: pytest.LogCaptureFixture) -> None:
    client = await MemoryClient(_forgiving(app)).send(*cut_up(BAD_CHUNK, [len(BAD_CHUNK) - 7]))
    assert (client.answer.status, client.wire.ended) == (400, "eof")
    assert caplog.records == []
    await client.leave()


async def test_garbage_in_the_piece_that_begins_a_request() -> None:
    client = await MemoryClient(not_reached).send(BAD_CHUNK)
    assert (client.answer.status, client.wire.ended) == (400, "eof")
    await client.leave()
    client = await MemoryClient(echo).send(get() + BAD_CHUNK)
    assert [each.status for each in client.answers("GET", "POST")] == [200, 400]
    await client.leave()


async def test_garbage_after_the_response_has_begun_is_a_disconnect() -> None:
    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        await send(start())
        while (await receive())["type"] != "http.disconnect":
            pass
        await send(part(b"that is all"))

    client = await MemoryClient(app).send(*cut_up(BAD_CHUNK, [len(BAD_CHUNK) - 7]))
    assert (client.answer.status, client.answer.body, client.wire.ended) == (200, b"that is all", "eof")
    await client.leave()


def _forgiving(app: App) -> App:
    """An application that returns when its client disconnects, like Assay's."""

    async def forgiving(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        async def checked() -> Any:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise EOFError
            return message

        try:
            await app(scope, checked, send)
        except EOFError:
            pass

    return forgiving


async def test_own_bug_is_not_reported_as_a_bad_request(monkeypatch: pytest.MonkeyPatch) -> None:
    client = MemoryClient(not_reached)
    monkeypatch.setattr(client.connection, "_addresses", None)
    with pytest.raises(TypeError):
        client.connection.data_received(get())
    assert client.wire.written == b""
    await client.leave()


# Other protocols


@pytest.mark.parametrize("version", [b"1.1", b"1.0"])
async def test_unsupported_upgrade_is_ignored(version: bytes) -> None:
    """RFC 9110, 7.8."""
    scopes: list[AsgiScope] = []

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        scopes.append(scope)
        await echo(scope, receive, send)

    client = await MemoryClient(app).send(
        post(b"one", *H2C, version=version), b"" if version == b"1.0" else post(b"two")
    )
    bodies = [each.body for each in client.answers("POST", "POST")]
    assert bodies == ([b"one"] if version == b"1.0" else [b"one", b"two"])
    assert {name for name, _ in scopes[0]["headers"]} == {b"host", b"content-length", b"connection"}
    assert scopes[0]["http_version"] == version.decode()
    await client.leave()


async def test_thousands_of_unsupported_upgrades_at_once() -> None:
    """Regression: each one was handled recursively inside the previous one."""
    client = await MemoryClient(echo_at_once).send(get(b"/", *H2C) * 2000)
    await client.all_taken()
    assert len(client.answers(*["GET"] * 2000)) == 2000
    await client.leave()


@pytest.mark.parametrize("before", [b"", get()])
async def test_connect_is_refused(before: bytes) -> None:
    """Regression: it was taken for an upgrade, and parsed again forever."""
    client = await MemoryClient(echo).send(before)
    await client.send(get(b"localhost:443", method=b"CONNECT") + b"\x16\x03\x01")
    *_, answer = client.answers(*["GET"] * (2 if before else 1))
    assert (answer.status, client.wire.ended) == (501, "eof")
    await client.leave()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (get(b"ftp://localhost/", b"connection: upgrade", b"upgrade: websocket"), 400),
        (get(b"/", b"connection: upgrade", b"upgrade: websocket", version=b"2.0"), 505),
        (get(b"/", b"connection: upgrade", b"upgrade: websocket"), 426),
        (get(b"/", b"connection: upgrade", b"upgrade: websocket", method=b"POST"), 400),
    ],
)
async def test_invalid_websocket_upgrade_is_refused(request_: bytes, status: int) -> None:
    client = await MemoryClient(not_reached).send(request_)
    assert (client.answer.status, client.wire.ended) == (status, "eof")
    await client.leave()


async def test_websocket_upgrade_behind_another_request_is_ignored() -> None:
    """RFC 9110, 7.8: a server may ignore it, and this connection is in use."""
    client = await MemoryClient(describe).send(
        get(b"/length?a") + get(b"/length?b", b"connection: upgrade", b"upgrade: websocket")
    )
    assert [each.body for each in client.answers("GET", "GET")] == [b"GET a ", b"GET b "]
    await client.leave()


@pytest.mark.parametrize("target", [b"http://localhost/mcp?a", b"HTTP://localhost/mcp?a"])
async def test_absolute_target_names_host_and_path(target: bytes) -> None:
    scopes: list[AsgiScope] = []

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        scopes.append(scope)
        await echo(scope, receive, send)

    client = await MemoryClient(app).send(
        get(target).replace(b"host: localhost", b"host: evil.example\r\nhost: twice")
    )
    (scope,) = scopes
    assert (scope["path"], scope["query_string"]) == ("/mcp", b"a")
    assert scope["headers"] == [(b"host", b"localhost")]
    await client.leave()

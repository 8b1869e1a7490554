"""Request smuggling: ambiguous requests are refused, and others are read in the only valid way.

Each one contains a second request. If that is ever served, it was smuggled.
"""

from __future__ import annotations

import pytest

from assay.protocol.http.asgi import AsgiScope, Receive, Transmit
from tests.transport.http1.memory_client import MemoryClient, echo_at_once, get

INNER = b"GET /inner HTTP/1.1\r\nhost: localhost\r\n\r\n"
LAST = b"0\r\n\r\n"
CHUNK = b"%x\r\n%b\r\n" % (len(INNER), INNER)


def ask(*lines: bytes, body: bytes = b"", version: bytes = b"1.1") -> bytes:
    return get(b"/outer", *lines, method=b"POST", version=version) + body


REFUSED = {
    "length, then chunks": ask(b"content-length: 5", b"transfer-encoding: chunked", body=LAST + INNER),
    "chunks, then length": ask(b"transfer-encoding: chunked", b"content-length: 5", body=LAST + INNER),
    "length in a trailer": ask(b"transfer-encoding: chunked", body=b"0\r\ncontent-length: 5\r\n\r\n" + INNER),
    "two lengths": ask(b"content-length: 0", b"content-length: %d" % len(INNER), body=INNER),
    "the same length twice": ask(b"content-length: 0", b"content-length: 0", body=INNER),
    "a list of lengths": ask(b"content-length: 0, 0", body=INNER),
    "a length with a sign": ask(b"content-length: +0", body=INNER),
    "a negative length": ask(b"content-length: -1", body=INNER),
    "a hexadecimal length": ask(b"content-length: 0x0", body=INNER),
    "a length that is not a number": ask(b"content-length: zero", body=INNER),
    "an empty length": ask(b"content-length:", body=INNER),
    "a length beyond 64 bits": ask(b"content-length: 18446744073709551616", body=INNER),
    "a length in two parts": ask(b"content-length: 0 0", body=INNER),
    "a length over two lines": ask(b"content-length:", b" 0", body=INNER),
    "chunks twice": ask(b"transfer-encoding: chunked", b"transfer-encoding: chunked", body=LAST + INNER),
    "chunks in a list twice": ask(b"transfer-encoding: chunked, chunked", body=LAST + INNER),
    "chunks that are not last": ask(b"transfer-encoding: chunked, identity", body=LAST + INNER),
    "identity": ask(b"transfer-encoding: identity", body=INNER),
    "an unknown coding": ask(b"transfer-encoding: xchunked", body=LAST + INNER),
    "a coding behind a vertical tab": ask(b"transfer-encoding: \x0bchunked", body=LAST + INNER),
    "a coding behind a fold": ask(b"transfer-encoding:", b" chunked", body=LAST + INNER),
    "a space before the colon": ask(b"transfer-encoding : chunked", body=LAST + INNER),
    "a tab before the colon": ask(b"content-length\t: 0", body=INNER),
    "a NUL in a name": ask(b"content-length\0: 0", body=INNER),
    "a folded header": ask(b"x: 1", b" transfer-encoding: chunked", body=LAST + INNER),
    "a space before the first header": b"GET /outer HTTP/1.1\r\n host: localhost\r\n\r\n" + INNER,
    "line feeds alone": b"GET /outer HTTP/1.1\nhost: localhost\n\n" + INNER,
    "a line feed alone in a header": ask(b"x: 1\ncontent-length: 5", body=INNER),
    "a carriage return alone": ask(b"x: 1\rcontent-length: 5", body=INNER),
    "a header without a name": ask(b": 1", body=INNER),
    "a header without a colon": ask(b"content-length", body=INNER),
    "a NUL in a value": ask(b"x: \0", body=INNER),
    "a chunk size with a prefix": ask(b"transfer-encoding: chunked", body=b"0x0\r\n\r\n" + INNER),
    "a negative chunk size": ask(b"transfer-encoding: chunked", body=b"-1\r\n\r\n" + INNER),
    "a chunk size beyond 64 bits": ask(
        b"transfer-encoding: chunked", body=b"1" + b"0" * 16 + b"\r\n" + INNER
    ),
    "a chunk size and a space": ask(b"transfer-encoding: chunked", body=b"0 \r\n\r\n" + INNER),
    "a chunk size and a line feed": ask(b"transfer-encoding: chunked", body=b"0\n\n" + INNER),
    "an extension with a line feed": ask(b"transfer-encoding: chunked", body=b"0;a\n\r\n" + INNER),
    "a chunk longer than it says": ask(b"transfer-encoding: chunked", body=b"1\r\nxx\r\n" + LAST + INNER),
    "a target with a space": b"GET /outer /inner HTTP/1.1\r\nhost: localhost\r\n\r\n" + INNER,
    "no version": b"GET /outer\r\nhost: localhost\r\n\r\n" + INNER,
    "an unknown minor version": b"GET /outer HTTP/1.2\r\nhost: localhost\r\n\r\n" + INNER,
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + INNER,
    "HTTP/2 by name": b"GET /outer HTTP/2.0\r\nhost: localhost\r\n\r\n" + INNER,
    "HTTP/0.9 by name": b"GET /outer HTTP/0.9\r\nhost: localhost\r\n\r\n" + INNER,
}
HARMLESS = {
    "a length": ask(b"content-length: %d" % len(INNER), body=INNER),
    "a length with zeros in front": ask(b"content-length: 00%d" % len(INNER), body=INNER),
    "a length with spaces around": ask(b"content-length:  %d \t" % len(INNER), body=INNER),
    "chunks": ask(b"transfer-encoding: chunked", body=CHUNK + LAST),
    "chunks in capitals": ask(b"Transfer-Encoding: Chunked", body=CHUNK + LAST),
    "chunks around another coding": ask(b"transfer-encoding: gzip, chunked", body=CHUNK + LAST),
    "a chunk with an extension": ask(
        b"transfer-encoding: chunked", body=b"%x;a=b\r\n%b\r\n" % (len(INNER), INNER) + LAST
    ),
    "a method override": ask(b"x-http-method-override: GET", b"content-length: %d" % len(INNER), body=INNER),
    "a length hidden by the connection": ask(
        b"connection: content-length", b"content-length: %d" % len(INNER), body=INNER
    ),
    "an upgrade with a body": ask(
        b"connection: upgrade", b"upgrade: h2c", b"content-length: %d" % len(INNER), body=INNER
    ),
    "an upgrade with chunks": ask(
        b"connection: upgrade", b"upgrade: h2c", b"transfer-encoding: chunked", body=CHUNK + LAST
    ),
    "chunks of HTTP/1.0": ask(b"transfer-encoding: chunked", body=CHUNK + LAST + INNER, version=b"1.0"),
    "HTTP/1.0 with keep-alive": ask(b"connection: keep-alive", body=INNER, version=b"1.0"),
    "a request after the last": ask(b"connection: close", body=INNER),
}
"""The inner request is not served: it is a body, or arrives after the connection is closed."""


@pytest.mark.parametrize("cut", [1, 7, 10_000])
@pytest.mark.parametrize("name", REFUSED)
async def test_ambiguous_request_is_refused_and_the_connection_closed(name: str, cut: int) -> None:
    served = []

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        served.append(scope["path"])
        while (await receive())["type"] != "http.disconnect":
            pass

    data = REFUSED[name]
    client = await MemoryClient(app).send(*(data[place : place + cut] for place in range(0, len(data), cut)))
    assert client.answer.status in (400, 505)
    assert client.wire.ended == "eof"
    # The outer one may have begun before its body arrived.
    assert served in ([], ["/outer"])
    await client.leave()


@pytest.mark.parametrize("cut", [1, 7, 10_000])
@pytest.mark.parametrize("name", HARMLESS)
async def test_valid_request_does_not_serve_its_body(name: str, cut: int) -> None:
    served = []

    async def app(scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        served.append(scope["path"])
        await echo_at_once(scope, receive, send)

    data = HARMLESS[name]
    client = await MemoryClient(app).send(*(data[place : place + cut] for place in range(0, len(data), cut)))
    assert served == ["/outer"]
    assert client.answer.status == 200
    assert client.answer.body in (INNER, b"")
    assert (client.answer.body == INNER) or client.wire.ended
    await client.leave()

"""Rows about the framing of bodies, and about input that is not valid HTTP."""

from __future__ import annotations

from typing import Any

from assay.model.error import PARSE_ERROR
from tests.bad_input.heads import ALONE, NO_HTTP, refused
from tests.bad_input.messages import PING
from tests.bad_input.row import NOTHING, After, Answer, Failed, Framing, Head, Reply, Row, Served, on_http
from tests.bad_input.subject import MESSAGE_BYTES

TOO_LARGE = refused(413, "body too large", after=After.CLOSED)
TOO_SLOW = refused(408, "body did not arrive", after=After.CLOSED)
NO_JSON = Failed(PARSE_ERROR, text="parse error")


def declared(*lengths: object) -> Framing:
    """The body unchanged, but with these values of Content-Length."""
    return lambda body: ([("content-length", str(length)) for length in lengths], body)


def chunked(size: int, *, end: bytes = b"0\r\n\r\n") -> Framing:
    def cut(body: bytes) -> tuple[list[tuple[str, str]], bytes]:
        pieces = [body[start : start + size] for start in range(0, len(body), size)]
        coded = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
        return [CHUNKED], coded + end

    return cut


def exactly(body: bytes, *headers: tuple[str, str]) -> Framing:
    return lambda _: (list(headers), body)


def row(name: str, framing: Framing, answer: Reply | Answer, because: str, display: str, **more: Any) -> Row:
    sent = more.pop("sent", PING)
    return on_http(
        name, sent, answer, because, head=Head(framing=framing), display=display, setting=ALONE, **more
    )


CHUNKED = ("transfer-encoding", "chunked")
LARGE = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"x" * MESSAGE_BYTES + b'"}}'
LIMIT = f"bounded by `limits.message_bytes`, here {MESSAGE_BYTES:,}"
SMUGGLED = "request smuggling: two servers could read different requests (RFC 9112, 6.3)"
SLOW = "bounded by `limits.body_timeout`, here 1 s"
LENGTH = "RFC 9112, 6.3"

LENGTHS = [
    row("body over the limit", declared(len(LARGE)), TOO_LARGE, LIMIT, "a body of 100,057 bytes", sent=LARGE),
    row(
        "declared over the limit",
        declared(10**9),
        refused(413, after=After.CLOSED),
        "refused by its head, before the body",
        "Content-Length: 1000000000",
    ),
    row(
        "body larger than declared",
        declared(10),
        Answer(Failed(PARSE_ERROR), 400, after=After.CLOSED),
        "the rest is not a request, and closes the connection",
        "Content-Length: 10, then 40 bytes",
    ),
    row(
        "body smaller than declared",
        declared(len(PING) + 1),
        TOO_SLOW,
        SLOW,
        "Content-Length: 41, then 40 bytes",
    ),
    row(
        "body that never arrives",
        exactly(b"", ("content-length", "40")),
        TOO_SLOW,
        SLOW,
        "Content-Length: 40, then nothing",
    ),
    row(
        "client disconnects inside the body",
        declared(len(PING) + 1),
        Answer(NOTHING, None, after=After.CLOSED),
        "no client to answer",
        "Content-Length: 41, then 40 bytes, then the end",
    ),
    row("length is not a number", declared("forty"), NO_HTTP, LENGTH, "Content-Length: forty"),
    row("length is negative", declared("-1"), NO_HTTP, LENGTH, "Content-Length: -1"),
    row("length with a sign", declared("+40"), NO_HTTP, LENGTH, "Content-Length: +40"),
    row(
        "length of 25 digits",
        declared("9" * 25),
        NO_HTTP,
        "exceeds 64 bits",
        f"Content-Length: {'9' * 25}",
    ),
    row("length twice", declared(40, 41), NO_HTTP, SMUGGLED, "Content-Length: 40 and 41"),
    row(
        "length and chunks",
        exactly(b"28\r\n" + PING + b"\r\n0\r\n\r\n", CHUNKED, ("content-length", "40")),
        NO_HTTP,
        SMUGGLED,
        "Content-Length and Transfer-Encoding",
    ),
    row(
        "neither length nor chunks",
        exactly(b""),
        NO_JSON,
        "the body is empty, which is not JSON",
        "no Content-Length",
    ),
]

CHUNKS = [
    row("chunks of one byte", chunked(1), Served(1), "any chunk size is allowed", "40 chunks"),
    row(
        "chunks with a trailer",
        chunked(40, end=b"0\r\nx-trailer: 1\r\n\r\n"),
        Served(1),
        "trailers are ignored",
        "chunks and a trailer",
    ),
    row("chunks over the limit", chunked(8192), TOO_LARGE, LIMIT, "13 chunks, 100,057 bytes", sent=LARGE),
    row(
        "no chunk",
        exactly(b"0\r\n\r\n", CHUNKED),
        NO_JSON,
        "the body is empty, which is not JSON",
        "the last chunk only",
    ),
    row("chunks that stop", chunked(10, end=b""), TOO_SLOW, SLOW, "4 chunks, no last one"),
    row(
        "client disconnects between chunks",
        chunked(10, end=b""),
        Answer(NOTHING, None, after=After.CLOSED),
        "no client to answer",
        "4 chunks, then the end",
    ),
    row(
        "chunk size is not a number",
        exactly(b"forty\r\n" + PING, CHUNKED),
        NO_HTTP,
        "RFC 9112, 7.1",
        "a chunk of size `forty`",
    ),
    row(
        "chunk without its end",
        exactly(b"1\r\n{{{{", CHUNKED),
        NO_HTTP,
        "RFC 9112, 7.1",
        "a chunk of size 1, then 4 bytes",
    ),
    row(
        "an unknown transfer coding",
        exactly(PING, ("transfer-encoding", "zip")),
        NO_HTTP,
        "RFC 9112, 6.1",
        "Transfer-Encoding: zip",
    ),
]


def raw(name: str, sent: bytes, answer: Answer, because: str, display: str = "") -> Row:
    return on_http(name, sent, answer, because, raw=True, display=display, setting=ALONE)


HTTP = "RFC 9112: malformed"
START = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
BYTES = [
    raw("not HTTP", b"hello\r\n\r\n", NO_HTTP, HTTP),
    raw("a JSON-RPC message without HTTP", PING + b"\r\n\r\n", NO_HTTP, HTTP),
    raw("TLS on a plain port", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 32, NO_HTTP, HTTP),
    raw("zero bytes", b"\0" * 64, NO_HTTP, HTTP),
    raw("HTTP/2 without negotiation", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", NO_HTTP, HTTP),
    raw(
        "HTTP/1.0",
        b"POST /mcp HTTP/1.0\r\nHost: localhost\r\nAccept: */*\r\nContent-Type: application/json\r\n"
        b"Content-Length: 40\r\n\r\n" + PING,
        Answer(Served(1), 200, after=After.CLOSED),
        "old, but valid",
    ),
    raw(
        "HTTP/2.0 in the syntax of 1.1",
        b"POST /mcp HTTP/2.0\r\nHost: localhost\r\n\r\n",
        refused(505, "HTTP version", after=After.CLOSED),
        "RFC 9110, 15.6.6",
    ),
    raw("an unknown version of HTTP", b"POST /mcp HTTP/9.9\r\nHost: localhost\r\n\r\n", NO_HTTP, HTTP),
    raw("a header without a colon", START + b"Accept\r\n\r\n", NO_HTTP, HTTP),
    raw("a header with a space in its name", START + b"Acc ept: */*\r\n\r\n", NO_HTTP, HTTP),
    raw("a space before the colon", START + b"Accept : */*\r\n\r\n", NO_HTTP, HTTP),
    raw("a NUL in a header", START + b"Accept: \0\r\n\r\n", NO_HTTP, HTTP),
    raw("a bare CR in a header", START + b"Accept: a\rb\r\n\r\n", NO_HTTP, HTTP),
    raw(
        "a header over two lines",
        START + b"Accept: application/json,\r\n text/event-stream\r\n\r\n",
        NO_HTTP,
        HTTP,
    ),
]

SECTIONS = {"Lengths": LENGTHS, "Chunks": CHUNKS, "Malformed HTTP": BYTES}

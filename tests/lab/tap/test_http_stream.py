"""HTTP in a stream of bytes: what is read, and where reading stops."""

from __future__ import annotations

import pytest

from assay.lab.tap.http_stream import Body, HeadFields, HttpStream

PLAIN = b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
CHUNKED = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\n{}\r\n3\r\nabc\r\n0\r\nT: v\r\n\r\n"


class Sink:
    def __init__(self) -> None:
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self.problem = ""
        self._body = b""

    def on_head(self, fields: HeadFields) -> int | Body | None:
        self.heads.append(fields.raw)
        length = fields.length
        return Body.NONE if length == -1 else length

    def on_body(self, data: bytes) -> None:
        self._body += data

    def on_end(self) -> None:
        self.bodies.append(self._body)
        self._body = b""

    def on_rest(self, data: bytes) -> None:
        raise AssertionError("nothing switches")

    def on_unreadable(self, problem: str) -> None:
        self.problem = problem


def read(data: bytes, size: int = 65536) -> Sink:
    sink = Sink()
    stream = HttpStream(sink)
    for place in range(0, len(data), size):
        stream.feed(data[place : place + size])
    return sink


@pytest.mark.parametrize("size", [1, 3, 65536])
def test_messages_are_read_however_they_are_cut(size: int) -> None:
    sink = read(PLAIN + CHUNKED + b"\r\n" + PLAIN, size)

    assert sink.bodies == [b"{}", b"{}abc", b"{}"]
    assert len(sink.heads) == 3
    assert not sink.problem


HOSTILE = {
    "both lengths": b"POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
    "odd length": b"POST / HTTP/1.1\r\nContent-Length: +4\r\n\r\nabcd",
    "odd coding": b"POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "space before colon": b"POST / HTTP/1.1\r\nContent-Length : 4\r\n\r\nabcd",
    "folded header": b"POST / HTTP/1.1\r\nX: a\r\n Content-Length: 4\r\n\r\nabcd",
    "bare line feed": b"POST / HTTP/1.1\nContent-Length: 4\r\n\r\nabcd",
    "odd chunk size": b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n",
    "chunk too long": b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}}\r\n0\r\n\r\n",
    "endless head": b"POST / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000,
    "endless chunk size": b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"0" * 1000,
    "endless trailers": b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * 5000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_is_read_after_what_readers_take_differently(name: str) -> None:
    sink = read(HOSTILE[name] + PLAIN, 4096)

    assert sink.problem
    assert PLAIN not in sink.heads


def test_memory_of_an_unreadable_stream_is_freed() -> None:
    stream = HttpStream(Sink())
    for _ in range(100):
        stream.feed(b"X" * 10_000)

    assert stream.waiting == 0

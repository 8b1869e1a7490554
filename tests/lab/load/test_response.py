"""Heads and chunks of responses, however they are split."""

import pytest

from assay.lab.load.response import BadResponse, ChunkReader, HeadCache, parse_head

CHUNKED = b"5\r\nhello\r\nA;name=value\r\n, world!!!\r\n0\r\nTrailer: x\r\n\r\n"


@pytest.mark.parametrize("size", [1, 2, 3, 7, len(CHUNKED)])
def test_chunks_are_joined_however_they_are_split(size: int) -> None:
    reader = ChunkReader()
    pieces = [reader.feed(CHUNKED[at : at + size]) for at in range(0, len(CHUNKED), size)]
    assert b"".join(pieces) == b"hello, world!!!"
    assert reader.is_over


@pytest.mark.parametrize("data", [b"zz\r\n", b"-1\r\n", b"f" * 2000])
def test_invalid_chunks_are_refused(data: bytes) -> None:
    with pytest.raises(BadResponse):
        ChunkReader().feed(data)


def test_head_is_reduced_to_what_counts() -> None:
    head = parse_head(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nMcp-Session-Id: abc")
    assert (head.status, head.length, head.session, head.keeps_alive) == (200, 12, "abc", True)
    stream = parse_head(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked")
    assert stream.is_stream and stream.chunked and stream.length is None
    assert not parse_head(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1").keeps_alive


@pytest.mark.parametrize(
    "raw", [b"SSH-2.0", b"HTTP/2 200", b"HTTP/1.1 abc", b"HTTP/1.1 200\r\ncontent-length: x"]
)
def test_other_protocols_are_refused(raw: bytes) -> None:
    with pytest.raises(BadResponse):
        parse_head(raw)


def test_cache_of_heads_is_bounded() -> None:
    cache = HeadCache()
    for number in range(1000):
        assert cache.get(b"HTTP/1.1 200 OK\r\ncontent-length: %d" % number).length == number
    assert len(cache._known) <= 256

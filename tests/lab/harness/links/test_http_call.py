"""HTTP responses in every framing, and with every violation of it."""

import asyncio

import pytest

from assay.lab.harness.links.http_call import (
    MAX_HEAD,
    Address,
    Ended,
    HeadRead,
    Part,
    PieceRead,
    read_response,
)

OK = b"HTTP/1.1 200 OK\r\n"


async def parts(data: bytes, method: str = "POST", *, step: int = 0) -> list[Part]:
    reader = asyncio.StreamReader(limit=MAX_HEAD)
    for at in range(0, len(data), step or len(data) or 1):
        reader.feed_data(data[at : at + (step or len(data))])
    reader.feed_eof()
    return [part async for part in read_response(reader, method)]


def body(response: list[Part]) -> bytes:
    return b"".join(part.data for part in response if isinstance(part, PieceRead))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (OK + b"Content-Length: 5\r\n\r\nhello", b"hello"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n", b"hello"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nTrailer: x\r\n\r\n", b"hello"),
        (OK + b"\r\nhello", b"hello"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nhello", b"hello"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
    ],
    ids=["length", "chunked", "trailers", "until the end", "after an interim response", "none"],
)
async def test_body_is_read_by_its_framing(data: bytes, expected: bytes) -> None:
    for step in (0, 1):
        response = await parts(data, step=step)
        assert body(response) == expected
        assert response[-1] == Ended()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "ended before a response head"),
        (b"HTTP/1.1 200 OK\r\nContent-", "ended before a response head"),
        (b"SSH-2.0-x\r\n\r\n", "not an HTTP/1 status line"),
        (b"HTTP/1.1 abc Odd\r\n\r\n", "not an HTTP/1 status line"),
        (OK + b"Content-Length: 5\r\n\r\nhel", "2 bytes before the end"),
        (OK + b"Content-Length: five\r\n\r\nhel", "not a content-length"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "invalid literal"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello", "inside a chunked body"),
        (OK + b"X: " + b"x" * MAX_HEAD + b"\r\n\r\n", "limit"),
    ],
)
async def test_broken_response_ends_with_the_problem(data: bytes, words: str) -> None:
    last = (await parts(data))[-1]
    assert isinstance(last, Ended)
    assert words in (last.problem or "")


async def test_head_keeps_its_bytes() -> None:
    raw = b"HTTP/1.1 200  Fine \r\nx-odd:  a \r\nX-Odd: b\r\n\r\n"
    (head, *_) = await parts(raw)
    assert isinstance(head, HeadRead)
    assert head.raw == raw
    assert head.head.all("X-ODD") == ["a", "b"]


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://localhost:3000/mcp", Address("localhost", 3000, False, "localhost:3000", "/mcp")),
        ("https://example.com", Address("example.com", 443, True, "example.com", "/")),
        ("ws://[::1]:8/a?b=c", Address("::1", 8, False, "[::1]:8", "/a?b=c")),
    ],
)
def test_url_is_parsed(url: str, address: Address) -> None:
    assert Address.of(url) == address


@pytest.mark.parametrize("url", ["", "localhost:3000", "ftp://x/", "http:///mcp", "http://x:port/"])
def test_unusable_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError):
        Address.of(url)

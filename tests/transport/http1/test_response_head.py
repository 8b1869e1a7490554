"""Response heads, valid and invalid."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.transport.http1.response_head import cached_head_lines, chunk, head_lines, make_head


@pytest.mark.parametrize("status", [status for status in HTTPStatus if status >= 200])
def test_every_status_has_its_phrase(status: HTTPStatus) -> None:
    assert make_head(status, ()).lines == f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode()


def test_status_without_a_phrase_has_a_line() -> None:
    assert make_head(299, ()).lines == b"HTTP/1.1 299 \r\n"


@pytest.mark.parametrize("status", [-1, 0, 100, 101, 199, 1000])
def test_interim_status_is_refused(status: int) -> None:
    with pytest.raises(ValueError, match="status"):
        make_head(status, ())


def test_headers_keep_their_order_and_number() -> None:
    head = make_head(200, [(b"set-cookie", b"a=1"), (b"x", b""), (b"set-cookie", b"b=2")])
    assert head.lines == b"HTTP/1.1 200 OK\r\nset-cookie: a=1\r\nx: \r\nset-cookie: b=2\r\n"


def as_generator() -> Iterator[tuple[bytes, bytes]]:
    yield b"content-length", b"5"


@pytest.mark.parametrize(
    "headers",
    [
        [(b"content-length", b"5")],
        [[b"content-length", b"5"]],
        ((b"Content-Length", b"5"),),
        [(bytearray(b"content-length"), bytearray(b"5"))],
        as_generator(),
    ],
    ids=["pairs", "lists", "capitals", "bytearrays", "generator"],
)
def test_headers_may_have_any_type_that_asgi_allows(headers: Any) -> None:
    head = make_head(200, headers)
    assert (head.length, head.lines) == (5, b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n")


@pytest.mark.parametrize(
    ("value", "closes"),
    [(b"close", True), (b"Close", True), (b"x, close", True), (b"keep-alive", False), (b"closed", False)],
)
def test_connection_header_is_applied_but_not_copied(value: bytes, closes: bool) -> None:
    """Only the server writes this header."""
    head = make_head(200, [(b"connection", value)])
    assert (head.closes, head.lines) == (closes, b"HTTP/1.1 200 OK\r\n")


def test_transfer_encoding_is_dropped() -> None:
    """ASGI: the server must ignore it."""
    assert make_head(200, [(b"transfer-encoding", b"chunked")]).lines == b"HTTP/1.1 200 OK\r\n"


def test_date_of_the_application_is_the_only_one() -> None:
    assert make_head(200, [(b"date", b"Thu, 01 Jan 1970 00:00:00 GMT")]).dated
    assert not make_head(200, []).dated


@pytest.mark.parametrize(
    "header",
    [
        (b"x", b"1\r\ny: 2"),
        (b"x", b"1\ny: 2"),
        (b"x", b"1\ry: 2"),
        (b"x", b"1\r\n\r\n<html>"),
        (b"x", b"\0"),
        (b"x", b"\x7f"),
        (b"x\r\ny", b"1"),
        (b"x: 1\r\ny", b"1"),
        (b"x y", b"1"),
        (b"x:", b"1"),
        (b"", b"1"),
        ("x-ü".encode(), b"1"),
    ],
)
def test_header_with_a_line_break_is_refused(header: tuple[bytes, bytes]) -> None:
    with pytest.raises(ValueError, match="not a valid response header"):
        make_head(200, [header])


@pytest.mark.parametrize("value", [b"a\tb", "ü".encode(), "ü".encode("latin-1"), b"a" * 10_000, b""])
def test_value_may_contain_any_printable_bytes(value: bytes) -> None:
    assert make_head(200, [(b"x", value)]).lines.endswith(b"\r\nx: " + value + b"\r\n")


@pytest.mark.parametrize("values", [[b"-1"], [b"+1"], [b"x"], [b""], [b"1, 1"], [b"1", b"1"], [b"1", b"2"]])
def test_invalid_length_is_refused(values: list[bytes]) -> None:
    with pytest.raises(ValueError, match="not a content-length"):
        make_head(200, [(b"content-length", value) for value in values])


@given(headers=st.lists(st.tuples(st.binary(max_size=8), st.binary(max_size=8)), max_size=4))
def test_a_head_has_as_many_lines_as_headers_or_is_refused(headers: list[tuple[bytes, bytes]]) -> None:
    try:
        written = make_head(200, headers).lines
    except ValueError:
        return
    ours = [name for name, _ in headers if name.lower() in (b"connection", b"transfer-encoding")]
    assert len(written.splitlines()) == written.count(b"\r\n") == 1 + len(headers) - len(ours)


@pytest.mark.parametrize("make", [head_lines, cached_head_lines])
def test_line_breaks_are_refused_without_make_head(make: Any) -> None:
    assert make(200, ((b"x", b"1"),)) == b"HTTP/1.1 200 OK\r\nx: 1\r\n"
    for value in (b"1\n", b"1\r", b"1\r\n", b"1\r\ny: 2"):
        with pytest.raises(ValueError, match="line break"):
            make(200, ((b"x", value),))


def test_chunk_names_its_size_and_an_empty_one_is_left_out() -> None:
    assert chunk(b"x" * 255) == b"ff\r\n" + b"x" * 255 + b"\r\n"
    assert chunk(b"") == b""

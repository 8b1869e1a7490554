"""Functions that read the head of a request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.transport.http1.request_head import (
    RequestRefused,
    expects_continue,
    head_without_upgrade,
    read_target,
    size_of_head,
    with_host,
)


@pytest.mark.parametrize(
    ("target", "path", "raw_path", "query", "authority"),
    [
        (b"/", "/", b"/", b"", None),
        (b"/mcp?a=1&b=2", "/mcp", b"/mcp", b"a=1&b=2", None),
        (b"/mcp?", "/mcp", b"/mcp", b"", None),
        (b"/a?b?c", "/a", b"/a", b"b?c", None),
        (b"/a%20b/%C3%BC?%C3%BC", "/a b/ü", b"/a%20b/%C3%BC", b"%C3%BC", None),
        (b"/%2Fa%3Fb", "//a?b", b"/%2Fa%3Fb", b"", None),
        (b"/%", "/%", b"/%", b"", None),
        (b"/%ff", "/\ufffd", b"/%ff", b"", None),
        (b"//evil/a", "//evil/a", b"//evil/a", b"", None),
        (b"/a#b?c", "/a", b"/a", b"", None),
        (b"*", "*", b"*", b"", None),
        (b"http://host", "/", b"/", b"", b"host"),
        (b"http://host?a", "/", b"/", b"a", b"host"),
        (b"HTTP://host:80/a%20b?c#d", "/a b", b"/a%20b", b"c", b"host:80"),
        (b"https://[::1]:80/a", "/a", b"/a", b"", b"[::1]:80"),
        (b"http://user@host/a", "/a", b"/a", b"", b"user@host"),
    ],
)
def test_target(target: bytes, path: str, raw_path: bytes, query: bytes, authority: bytes | None) -> None:
    assert read_target(target) == (path, raw_path, query, authority)


@pytest.mark.parametrize(
    "target", [b"", b"mcp", b"ftp://host/", b"http:///a", b"http:/a", b"host:443", b"?a"]
)
def test_invalid_target_is_refused(target: bytes) -> None:
    with pytest.raises(RequestRefused) as refused:
        read_target(target)
    assert refused.value.refusal.status == 400


@given(target=st.binary(max_size=40))
def test_any_target_is_read_or_refused(target: bytes) -> None:
    try:
        path, raw_path, *_ = read_target(target)
    except RequestRefused as error:
        assert error.refusal.status == 400
    else:
        assert path[:1] in ("/", "*")
        assert b"?" not in raw_path


def test_authority_takes_the_place_of_every_host_header() -> None:
    headers = [(b"host", b"a"), (b"x", b"1"), (b"host", b"b")]
    assert with_host(b"c", headers) == [(b"host", b"c"), (b"x", b"1")]


def test_size_counts_what_is_on_the_wire() -> None:
    assert size_of_head(b"/mcp", [(b"host", b"a"), (b"x", b"")]) == len(b"/mcp" + b"host: a\r\n" + b"x: \r\n")


def test_head_without_upgrade_is_otherwise_the_same() -> None:
    headers = [(b"host", b"a"), (b"upgrade", b"h2c"), (b"http2-settings", b"AAMAAABk"), (b"x", b"1")]
    assert (
        head_without_upgrade(b"POST", b"/a?b", "1.0", headers)
        == b"POST /a?b HTTP/1.0\r\nhost: a\r\nx: 1\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("version", "value", "expects"),
    [
        ("1.1", b"100-continue", True),
        ("1.1", b"100-Continue", True),
        ("1.0", b"100-continue", False),
        ("1.1", b"200-ok", False),
    ],
)
def test_only_http_1_1_can_expect_100_continue(version: str, value: bytes, expects: bool) -> None:
    """RFC 9110, 10.1.1: it is ignored in HTTP/1.0, and case-insensitive."""
    assert expects_continue(version, [(b"expect", value)]) is expects
    assert not expects_continue(version, [(b"x", value)])

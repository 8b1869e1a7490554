"""Addresses of servers."""

from __future__ import annotations

import pytest

from assay.transport.client.url import read_address, redirected


@pytest.mark.parametrize(
    ("url", "host", "port", "target", "authority"),
    [
        ("http://example.com", "example.com", 80, "/", "example.com"),
        ("https://example.com/mcp?a=b#part", "example.com", 443, "/mcp?a=b", "example.com"),
        ("ws://EXAMPLE.com:8080/x", "example.com", 8080, "/x", "example.com:8080"),
        ("wss://[::1]/", "::1", 443, "/", "[::1]"),
        ("http://[::1]:81/", "::1", 81, "/", "[::1]:81"),
        ("http://bücher.example/ä?ö=%20", "xn--bcher-kva.example", 80, "/%C3%A4?%C3%B6=%20", None),
    ],
)
def test_addresses_are_split(url: str, host: str, port: int, target: str, authority: str | None) -> None:
    address = read_address(url)
    assert (address.host, address.port, address.target) == (host, port, target)
    assert authority is None or address.authority == authority


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.com", "file:///etc/passwd", "http://", "http:///path", "http://h:99999/"),
        *("http://a b/", "http://a/\r\nHost: b", "http://user:secret@h/", "http://[::1", "http://h\x7f/"),
    ],
)
def test_what_is_not_an_address_is_refused_without_showing_a_password(url: str) -> None:
    with pytest.raises(ValueError, match=r"URL") as failure:
        read_address(url)
    assert "secret" not in str(failure.value)


@pytest.mark.parametrize(
    ("location", "following"),
    [
        ("/other", "https://example.com/other"),
        ("other/", "https://example.com/other/"),
        ("https://example.com:443/x", "https://example.com:443/x"),
        ("http://example.com/mcp", None),
        ("https://example.com:444/mcp", None),
        ("https://example.com.evil.example/mcp", None),
        ("//evil.example/mcp", None),
        ("https://example.com@evil.example/", ValueError),
        ("javascript:alert(1)", ValueError),
    ],
)
def test_redirects_stay_within_the_origin(location: str, following: str | type[Exception] | None) -> None:
    address = read_address("https://example.com/mcp")
    if isinstance(following, type):
        with pytest.raises(following):
            redirected(address, location)
        return
    target = redirected(address, location)
    assert (None if target is None else target.url) == following

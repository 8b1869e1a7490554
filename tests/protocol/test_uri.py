"""Absolute URIs by RFC 3986; encoded control characters are refused, too."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.protocol.uri import MAX_URI_LENGTH, InvalidUri, check_uri, escapes_root

ACCEPTED = [
    "file:///etc/motd",
    "file:///",
    "memo://",
    "urn:isbn:0451450523",
    "https://user@example.com:8080/a/b;c=1?q=1&r=/?#part",
    "https://[2001:db8::1]:443/x",
    "http://[fe80::1%25en1]/",
    "mailto:john@example.com",
    "x-custom+v1.0:opaque",
    "note://caf%C3%A9/%20",
    "a:b",
    "a:?",
]

REFUSED = {
    "": "no valid scheme",
    "/relative/path": "no valid scheme",
    "no-colon": "no valid scheme",
    "1http://x": "no valid scheme",
    "ht_tp://x": "no valid scheme",
    "://x": "no valid scheme",
    "file:": "nothing after the scheme",
    "note://a b": "control character or whitespace",
    "note://a\n": "control character or whitespace",
    "note://a\0": "control character or whitespace",
    "note://a\x85": "control character or whitespace",
    "note://café": "character that must be percent-encoded",
    "note://a\\b": "character that must be percent-encoded",
    "note://{id}": "character that must be percent-encoded",
    "note://a%2": "percent sign without two hexadecimal digits",
    "note://a%zz": "percent sign without two hexadecimal digits",
    "note://a%00": "percent-encoded control character",
    "note://a%1F": "percent-encoded control character",
    "note://a%7f": "percent-encoded control character",
    "note://a#b#c": "second fragment",
    "note://a/[1]": "square bracket outside an IP address",
    "note:[1]": "square bracket outside an IP address",
    "note://x[::1]/": "square bracket outside an IP address",
    "note://" + "a" * MAX_URI_LENGTH: "longer than 8192 characters",
}


@pytest.mark.parametrize("uri", ACCEPTED)
def test_absolute_uri_is_accepted(uri: str) -> None:
    check_uri(uri)


@pytest.mark.parametrize(("uri", "reason"), REFUSED.items(), ids=[uri[:20] for uri in REFUSED])
def test_other_text_is_refused_with_its_reason(uri: str, reason: str) -> None:
    with pytest.raises(InvalidUri) as caught:
        check_uri(uri)
    assert (caught.value.uri, caught.value.reason) == (uri, reason)


def test_longest_uri_is_accepted() -> None:
    check_uri("a:" + "b" * (MAX_URI_LENGTH - 2))


def test_refusal_shows_the_start_of_the_text_with_controls_escaped() -> None:
    assert str(InvalidUri("a\n", "why")) == r"not an absolute URI (why): 'a\n'"
    assert str(InvalidUri("a" * 81, "why")) == f"not an absolute URI (why): '{'a' * 80}…'"


@given(st.text())
def test_any_text_is_accepted_or_refused_and_nothing_else(text: str) -> None:
    try:
        check_uri(text)
    except InvalidUri as error:
        assert error.uri == text
    else:
        assert text.isascii()
        assert text.isprintable()


@pytest.mark.parametrize("scheme", ["http", "x-a+b.c", "A1"])
def test_scheme_grammar_is_accepted(scheme: str) -> None:
    check_uri(f"{scheme}:x")


@pytest.mark.parametrize("scheme", ["", "1a", "a_b", "é", "a\n"])
def test_other_scheme_is_refused(scheme: str) -> None:
    with pytest.raises(InvalidUri):
        check_uri(f"{scheme}:x")


@pytest.mark.parametrize("path", ["..", "../a", "a/..", "a/../b", "/..", "a\\b", "a\0", "C:", "z:a", "C:/a"])
def test_path_that_climbs_escapes(path: str) -> None:
    assert escapes_root(path)


@pytest.mark.parametrize(
    "path", ["", ".", "a", "a/b", "1:a", "ab:c", "é:a", "...", "a..b", "..a", "a../b", "%2e%2e"]
)
def test_path_with_other_dots_stays(path: str) -> None:
    assert not escapes_root(path)

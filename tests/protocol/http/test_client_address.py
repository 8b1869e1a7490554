"""The address that counts as the client's, with and without trusted proxies."""

from __future__ import annotations

import pytest

from assay.protocol.http.client_address import client_address, read_networks

PROXIES = read_networks(["10.0.0.0/8", "2001:db8:1::/48"])


@pytest.mark.parametrize(
    ("connected_from", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:2", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_an_ipv6_client_counts_by_its_network(connected_from: str, address: str) -> None:
    assert client_address(connected_from, [], ()) == address


@pytest.mark.parametrize("name", [b"x-forwarded-for", b"forwarded"])
@pytest.mark.parametrize("connected_from", ["192.0.2.1", "127.0.0.1", "testclient", ""])
def test_an_untrusted_client_cannot_choose_its_address(connected_from: str, name: bytes) -> None:
    headers = [(name, b"for=203.0.113.9" if name == b"forwarded" else b"203.0.113.9")]
    assert client_address(connected_from, headers, ()) == connected_from
    assert client_address(connected_from, headers, PROXIES) == connected_from


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("203.0.113.9, 192.0.2.1", "192.0.2.1"),
        ("203.0.113.9, 192.0.2.1, 10.1.1.1", "192.0.2.1"),
        ("10.2.2.2, 10.1.1.1", "10.2.2.2"),
        ("192.0.2.1:4711", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("[2001:db8::1]:4711", "2001:db8::/64"),
        ("192.0.2.1, 2001:db8:1::5", "192.0.2.1"),
        ("203.0.113.9, unknown", "10.0.0.1"),
        ("203.0.113.9, unknown, 10.1.1.1", "10.1.1.1"),
        ("", "10.0.0.1"),
        ("192.0.2.1,", "10.0.0.1"),
    ],
)
def test_x_forwarded_for_is_read_from_the_right_past_trusted_proxies(value: str, address: str) -> None:
    assert client_address("10.0.0.1", [(b"x-forwarded-for", value.encode())], PROXIES) == address


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("for=192.0.2.1", "192.0.2.1"),
        ("For=192.0.2.1;proto=https;by=10.0.0.1", "192.0.2.1"),
        ('proto=http;for="192.0.2.1:80"', "192.0.2.1"),
        ('for="[2001:db8::1]:4711"', "2001:db8::/64"),
        ("for=203.0.113.9, for=192.0.2.1, for=10.1.1.1", "192.0.2.1"),
        ("for=203.0.113.9, for=_hidden", "10.0.0.1"),
        ("for=203.0.113.9, proto=https", "10.0.0.1"),
        ('for=192.0.2.1;host="a, for=203.0.113.9"', "192.0.2.1"),
        ('for=203.0.113.9;host=", for=192.0.2.1', "10.0.0.1"),
        ('for=203.0.113.9;host=", for="[2001:db8::1]"', "10.0.0.1"),
        ("192.0.2.1", "10.0.0.1"),
        ("", "10.0.0.1"),
    ],
)
def test_forwarded_is_read_by_its_grammar_or_not_at_all(value: str, address: str) -> None:
    assert client_address("10.0.0.1", [(b"forwarded", value.encode())], PROXIES) == address


def test_repeated_headers_are_one_list() -> None:
    headers = [(b"x-forwarded-for", b"203.0.113.9"), (b"X-Forwarded-For", b"192.0.2.1")]
    assert client_address("10.0.0.1", headers, PROXIES) == "192.0.2.1"


@pytest.mark.parametrize(("forwarded", "address"), [("192.0.2.1", "192.0.2.1"), ("203.0.113.9", "10.0.0.1")])
def test_headers_that_contradict_each_other_count_as_the_proxy(forwarded: str, address: str) -> None:
    """A proxy that sets one of them passes the other on as the client invented it."""
    headers = [(b"forwarded", f"for={forwarded}".encode()), (b"x-forwarded-for", b"192.0.2.1")]
    assert client_address("10.0.0.1", headers, PROXIES) == address


@pytest.mark.parametrize("text", ["proxy.example", "10.0.0.1/8", "*", ""])
def test_only_addresses_and_networks_are_trusted(text: str) -> None:
    with pytest.raises(ValueError, match=r"does not appear to be|has host bits set"):
        read_networks([text])

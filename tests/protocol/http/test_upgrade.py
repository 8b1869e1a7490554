"""The opening handshake, with `websockets` as the client."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.datastructures import Headers as OracleHeaders
from websockets.http11 import Response
from websockets.uri import parse_uri

from assay.protocol.http.head_policy import Headers, Refusal
from assay.protocol.http.upgrade import Upgrade, accept_key, choose_subprotocol, read_upgrade, wants_upgrade

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
GOOD: Headers = [
    (b"host", b"localhost"),
    (b"upgrade", b"websocket"),
    (b"connection", b"Upgrade"),
    (b"sec-websocket-key", KEY),
    (b"sec-websocket-version", b"13"),
]


def changed(name: bytes, *values: bytes) -> Headers:
    return [pair for pair in GOOD if pair[0] != name] + [(name, value) for value in values]


def test_key_is_answered_as_the_rfc_shows() -> None:
    """RFC 6455, 1.3."""
    assert accept_key(KEY) == b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def test_websockets_accepts_our_answer_to_its_request() -> None:
    client = ClientProtocol(parse_uri("ws://localhost/mcp"), subprotocols=["mcp"])  # type: ignore[list-item]
    request = client.connect()
    headers = [(name.lower().encode(), value.encode()) for name, value in request.headers.raw_items()]
    upgrade = read_upgrade("GET", "1.1", headers)
    assert isinstance(upgrade, Upgrade)
    assert upgrade.subprotocols == ("mcp",)
    answer = OracleHeaders(
        [
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Accept", accept_key(upgrade.key).decode()),
            ("Sec-WebSocket-Protocol", str(choose_subprotocol(upgrade.subprotocols))),
        ]
    )
    client.process_response(Response(101, "Switching Protocols", answer))
    assert client.subprotocol == "mcp"


@pytest.mark.parametrize(
    "headers",
    [
        GOOD,
        changed(b"connection", b"keep-alive, UPGRADE"),
        changed(b"connection", b"keep-alive", b"upgrade"),
        changed(b"upgrade", b"h2c, WebSocket"),
        changed(b"sec-websocket-key", b" " + KEY + b" "),
    ],
)
def test_valid_request_is_read(headers: Headers) -> None:
    assert read_upgrade("GET", "1.1", headers) == Upgrade(KEY, ())
    assert wants_upgrade(headers)


def test_offered_subprotocols_keep_their_order_and_case() -> None:
    headers = [*GOOD, (b"sec-websocket-protocol", b"a, MCP ,"), (b"sec-websocket-protocol", b"mcp")]
    assert read_upgrade("GET", "1.1", headers) == Upgrade(KEY, ("a", "MCP", "mcp"))


@pytest.mark.parametrize(
    ("headers", "status", "words"),
    [
        (changed(b"upgrade"), 400, "Upgrade"),
        (changed(b"upgrade", b"h2c"), 400, "Upgrade"),
        (changed(b"connection", b"keep-alive"), 400, "Connection"),
        (changed(b"sec-websocket-version"), 426, "send 13"),
        (changed(b"sec-websocket-version", b"8"), 426, "send 13"),
        (changed(b"sec-websocket-version", b"13", b"13"), 426, "send 13"),
        (changed(b"sec-websocket-key"), 400, "16 bytes"),
        (changed(b"sec-websocket-key", KEY, KEY), 400, "once"),
        (changed(b"sec-websocket-key", b"c2hvcnQ="), 400, "16 bytes"),
        (changed(b"sec-websocket-key", b"dGhlIHNhbXBsZSBub25jZQ"), 400, "Base64"),
        (changed(b"sec-websocket-key", b"!" * 24), 400, "Base64"),
    ],
)
def test_invalid_request_is_refused(headers: Headers, status: int, words: str) -> None:
    refusal = read_upgrade("GET", "1.1", headers)
    assert isinstance(refusal, Refusal)
    assert (status, True) == (refusal.status, words in refusal.reason)
    if status == 426:
        assert (b"sec-websocket-version", b"13") in refusal.headers


@pytest.mark.parametrize(("method", "version"), [("POST", "1.1"), ("GET", "1.0")])
def test_only_get_on_http_1_1_upgrades(method: str, version: str) -> None:
    refusal = read_upgrade(method, version, GOOD)
    assert isinstance(refusal, Refusal) and refusal.status == 400


@pytest.mark.parametrize(
    ("offered", "chosen"), [((), None), (("mcp",), "mcp"), (("v2", "mcp"), "mcp"), (["mcp", "x"], "mcp")]
)
def test_subprotocol_is_chosen_where_it_is_offered(offered: list[str], chosen: str | None) -> None:
    assert choose_subprotocol(offered) == chosen


@pytest.mark.parametrize("offered", [["graphql-ws"], ["MCP"], ["mcp.v1", "json"]])
def test_client_with_other_subprotocols_only_is_refused(offered: list[str]) -> None:
    refusal = choose_subprotocol(offered)
    assert isinstance(refusal, Refusal)
    assert (refusal.status, "offer mcp" in refusal.reason) == (400, True)


@given(value=st.binary(max_size=40), name=st.sampled_from([name for name, _ in GOOD]))
def test_no_header_breaks_the_reader(value: bytes, name: bytes) -> None:
    assert isinstance(read_upgrade("GET", "1.1", changed(name, value)), Upgrade | Refusal)

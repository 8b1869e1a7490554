"""Declarations of a client in its requests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.model.definition import ClientCapabilities, Implementation
from assay.model.error import RpcError
from assay.model.jsonrpc import Envelope
from assay.model.limits import Limits
from assay.protocol.codec import decode
from assay.protocol.declaration import (
    CACHED_BYTES,
    cached_peer,
    declared_peer,
    describes_itself,
    read_declaration,
)
from assay.protocol.session import Peer
from assay.revisions.registry import DATES, HANDSHAKE
from assay.revisions.served import EVERY
from tests.driving.describing import CAPABILITIES, LOG_LEVEL, PREFIX, REVISION, VERSION

INFO = f"{PREFIX}clientInfo"
FULL = {
    VERSION: REVISION.date,
    CAPABILITIES: {"sampling": {}},
    INFO: {"name": "c", "version": "1", "unknown": True},
    LOG_LEVEL: "notice",
    "com.example/own": 1,
}
LEAST = {VERSION: REVISION.date, CAPABILITIES: {}}


def envelope(meta: Any, method: str = "tools/list") -> Envelope:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}}
    decoded = decode(json.dumps(message).encode(), Limits())
    assert isinstance(decoded, Envelope)
    return decoded


BARE = decode(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', Limits())


def test_all_fields_of_a_declaration_reach_the_peer() -> None:
    assert declared_peer(read_declaration(envelope(FULL))) == Peer(
        REVISION, ClientCapabilities(sampling={}), Implementation("c", "1"), "notice"
    )


def test_only_version_and_capabilities_are_required() -> None:
    assert declared_peer(read_declaration(envelope(LEAST))) == Peer(
        REVISION, ClientCapabilities(), None, None
    )


@pytest.mark.parametrize("meta", [FULL, LEAST])
def test_an_equal_declaration_gives_the_same_peer(meta: Any) -> None:
    first = cached_peer(envelope(meta))
    assert first == declared_peer(read_declaration(envelope(meta)))
    assert cached_peer(envelope(meta, "tools/call")) is first


def test_a_long_declaration_is_not_cached() -> None:
    """Anyone can fill the cache, so the size of its entries is bounded."""
    meta = LEAST | {"com.example/own": "x" * CACHED_BYTES}
    first = cached_peer(envelope(meta))
    assert first == Peer(REVISION)
    assert cached_peer(envelope(meta)) is not first


@pytest.mark.parametrize(
    ("meta", "method", "expected"),
    [
        (LEAST, "tools/list", True),
        (LEAST, "initialize", True),
        ({VERSION: "1999-01-01"}, "tools/list", True),
        ({VERSION: HANDSHAKE[-1].date}, "tools/list", True),
        ({VERSION: None}, "tools/list", True),
        ({VERSION: 5}, "tools/list", True),
        ({CAPABILITIES: {}}, "tools/list", False),
        ({INFO: {}}, "tools/list", False),
        ({}, "tools/list", False),
        (5, "tools/list", False),
        (VERSION, "tools/list", False),
        ({"progressToken": 1}, "tools/list", False),
        ({}, "server/discover", True),
        (VERSION, "subscriptions/listen", True),
        ({"progressToken": 1}, "subscriptions/listen", True),
    ],
)
def test_a_request_describes_itself_by_its_version_or_its_method(
    meta: Any, method: str, expected: bool
) -> None:
    assert describes_itself(envelope(meta, method)) is expected


@pytest.mark.parametrize("params", [{}, {"name": "add", "arguments": {}}, {"name": 7}, {"arguments": None}])
def test_call_describes_its_client_whatever_its_other_parameters_are(params: dict[str, Any]) -> None:
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**params, "_meta": LEAST}}
    )
    message = decode(body.encode(), Limits())
    assert isinstance(message, Envelope)
    assert cached_peer(message) is not None


def test_escapes_do_not_hide_a_declaration() -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"_meta": LEAST}})
    for hidden in (PREFIX, "_meta", "params"):
        escaped = "".join(f"\\u{ord(character):04x}" for character in hidden)
        message = decode(body.replace(hidden, escaped).encode(), Limits())
        assert isinstance(message, Envelope)
        assert describes_itself(message)


@pytest.mark.parametrize(
    "beside", [{"_meta": LEAST}, {"_decoded_params": {"_meta": LEAST}}, {"decoded_params": {"_meta": LEAST}}]
)
@pytest.mark.parametrize("method", ["tools/list", "tools/call"])
def test_meta_outside_the_parameters_is_ignored(beside: dict[str, Any], method: str) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": "add"}, **beside})
    message = decode(body.encode(), Limits())
    assert isinstance(message, Envelope)
    assert not describes_itself(message)


@pytest.mark.parametrize(
    ("meta", "text"),
    [
        ({}, f"_meta needs {VERSION} and {CAPABILITIES}"),
        ({CAPABILITIES: {}}, f"_meta needs {VERSION}"),
        ({VERSION: REVISION.date}, f"_meta needs {CAPABILITIES}"),
        ({VERSION: "1999-01-01"}, f"_meta needs {CAPABILITIES}"),
    ],
)
def test_missing_fields_are_named_with_the_supported_versions(meta: Any, text: str) -> None:
    with pytest.raises(RpcError) as caught:
        read_declaration(envelope(meta))
    error = caught.value
    assert (error.code, error.message, error.data) == (-32602, text, {"supported": [*reversed(DATES)]})
    assert cached_peer(envelope(meta)) is None


def test_a_request_without_meta_lacks_both() -> None:
    assert isinstance(BARE, Envelope)
    assert cached_peer(BARE) is None
    with pytest.raises(RpcError, match=f"{VERSION} and {CAPABILITIES}"):
        read_declaration(BARE)


@pytest.mark.parametrize(
    "changes",
    [
        {VERSION: 20260728},
        {VERSION: None},
        {VERSION: [REVISION.date]},
        {CAPABILITIES: None},
        {CAPABILITIES: []},
        {CAPABILITIES: True},
        {CAPABILITIES: {"sampling": 5}},
        {INFO: "me"},
        {INFO: {"name": 5, "version": "1"}},
        {INFO: {"name": "without a version"}},
        {LOG_LEVEL: "loud"},
        {LOG_LEVEL: 3},
    ],
)
def test_a_value_of_the_wrong_type_is_refused(changes: dict[str, Any]) -> None:
    message = envelope(LEAST | changes)
    with pytest.raises(RpcError) as caught:
        read_declaration(message)
    assert (caught.value.code, caught.value.message[:15]) == (-32602, "invalid _meta: ")
    assert cached_peer(message) is None


@pytest.mark.parametrize("version", ["1999-01-01", "", "2026-7-28", *(each.date for each in HANDSHAKE)])
def test_an_unsupported_version_is_refused_with_the_supported_ones(version: str) -> None:
    """VER-01 (basic/versioning). No revision covers a declaration that names a handshake revision."""
    message = envelope(LEAST | {VERSION: version})
    with pytest.raises(RpcError) as caught:
        declared_peer(read_declaration(message))
    error = caught.value
    assert (error.code, error.data) == (-32022, {"supported": [*reversed(DATES)], "requested": version})
    assert ("negotiated by initialize" in error.message) == (version in DATES)
    assert cached_peer(message) is None


def test_the_newest_version_is_offered_first() -> None:
    assert [REVISION.date, *(each.date for each in reversed(HANDSHAKE))] == EVERY.newest_first

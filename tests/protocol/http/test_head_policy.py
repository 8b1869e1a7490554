"""The verdict on the head of a request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.protocol.http.head_policy import (
    ALLOWED_HEADERS,
    EXPOSED,
    Admission,
    HeadPolicy,
    Refusal,
    RequestHead,
    content_type_problem,
    merge_headers,
    missing_types,
    prefers_stream,
)
from assay.protocol.http.policy import HttpPolicy
from assay.revisions.registry import BY_DATE, REVISIONS

POST = RequestHead(
    "POST",
    b"localhost:3000",
    None,
    b"application/json",
    b"application/json, text/event-stream",
    b"2025-11-25",
)
STREAMING, PLAIN = HttpPolicy(), HttpPolicy(streaming=False)


def judge(policy: HttpPolicy = STREAMING, /, **changes: Any) -> Admission | Refusal:
    return HeadPolicy(policy).judge(POST._replace(**changes))


def status(policy: HttpPolicy = STREAMING, /, **changes: Any) -> int:
    verdict = judge(policy, **changes)
    return verdict.status if isinstance(verdict, Refusal) else 0


def test_head_in_order_is_admitted_with_its_revision() -> None:
    assert judge() == Admission(BY_DATE["2025-11-25"], None, ())


@pytest.mark.parametrize("revision", REVISIONS, ids=str)
def test_version_header_names_the_revision(revision: Any) -> None:
    assert judge(version=f" {revision} ".encode()) == Admission(revision, None, ())


@pytest.mark.parametrize("version", ["1999-01-01", "", "2025-11-25, 2025-11-25", "\xff"])
def test_unknown_version_is_left_to_the_route(version: str) -> None:
    """The body decides, because an `initialize` may have any version header."""
    assert judge(version=version.encode("latin-1")) == Admission(None, version, ())


def test_absent_version_is_not_unknown() -> None:
    assert judge(version=None) == Admission(None, None, ())


@pytest.mark.parametrize(
    ("policy", "changes", "expected"),
    [
        (STREAMING, {"host": b"evil.example"}, 421),
        (STREAMING, {"host": None}, 421),
        (STREAMING, {"origin": b"http://evil.example"}, 403),
        (STREAMING, {"origin": b"null"}, 403),
        (STREAMING, {"origin": b""}, 403),
        (STREAMING, {"content_type": None}, 415),
        (STREAMING, {"content_type": b"text/plain"}, 415),
        (STREAMING, {"accept": None}, 406),
        (STREAMING, {"accept": b"application/json"}, 406),
        (STREAMING, {"accept": b"text/event-stream"}, 406),
        (STREAMING, {"accept": b"text/html"}, 406),
        (STREAMING, {"accept": b"*/*"}, 0),
        (STREAMING, {"accept": b"application/*, text/*"}, 0),
        (PLAIN, {"accept": b"application/json"}, 0),
        (PLAIN, {"accept": b"text/event-stream"}, 406),
        (STREAMING, {"method": "GET", "accept": b"text/event-stream", "content_type": None}, 0),
        (STREAMING, {"method": "GET", "accept": b"application/json"}, 406),
        (STREAMING, {"method": "DELETE", "accept": None, "content_type": None}, 0),
        (STREAMING, {"method": "OPTIONS", "accept": None, "content_type": None}, 0),
        (STREAMING, {"method": "PUT"}, 405),
        (STREAMING, {"method": "HEAD"}, 405),
        (STREAMING, {"method": "post"}, 405),
        (PLAIN, {"method": "GET"}, 405),
        (PLAIN, {"method": "DELETE"}, 405),
        (PLAIN, {"method": "OPTIONS"}, 0),
        # Host and Origin are checked first, so that other sites learn nothing about the endpoint.
        (STREAMING, {"host": b"evil.example", "origin": b"http://evil.example", "method": "PUT"}, 421),
        (STREAMING, {"origin": b"http://evil.example", "content_type": None}, 403),
    ],
)
def test_status(policy: HttpPolicy, changes: dict[str, Any], expected: int) -> None:
    assert status(policy, **changes) == expected


@pytest.mark.parametrize(
    ("changes", "setting"),
    [({"host": b"evil.example"}, "allowed_hosts"), ({"origin": b"http://evil.example"}, "allowed_origins")],
)
def test_refusal_names_the_setting_to_change(changes: dict[str, Any], setting: str) -> None:
    refusal = judge(**changes)
    assert isinstance(refusal, Refusal)
    assert (setting in refusal.reason, "evil.example" in refusal.reason) == (True, True)


@pytest.mark.parametrize(
    ("policy", "methods"), [(STREAMING, b"GET, POST, DELETE, OPTIONS"), (PLAIN, b"POST, OPTIONS")]
)
def test_wrong_method_gets_the_allowed_ones(policy: HttpPolicy, methods: bytes) -> None:
    refusal = judge(policy, method="PATCH")
    assert isinstance(refusal, Refusal)
    assert refusal.headers == ((b"allow", methods),)


def test_page_of_an_allowed_origin_may_read_the_answer() -> None:
    assert judge(origin=b"http://localhost:5173") == Admission(
        BY_DATE["2025-11-25"],
        None,
        (
            (b"access-control-allow-origin", b"http://localhost:5173"),
            (b"access-control-expose-headers", EXPOSED),
            (b"vary", b"origin"),
        ),
    )


def test_preflight_allows_what_clients_send() -> None:
    assert dict(HeadPolicy(STREAMING).preflight({b"origin": b"http://localhost"})) == {
        b"access-control-allow-origin": b"http://localhost",
        b"access-control-expose-headers": EXPOSED,
        b"vary": b"origin",
        b"allow": b"GET, POST, DELETE, OPTIONS",
        b"access-control-allow-methods": b"GET, POST, DELETE, OPTIONS",
        b"access-control-allow-headers": ALLOWED_HEADERS,
        b"access-control-max-age": b"600",
    }


def test_preflight_allows_the_headers_of_requested_tool_parameters() -> None:
    requested = {b"access-control-request-headers": b"content-type, Mcp-Param-Region,mcp-param-b, x-other"}
    allowed = dict(HeadPolicy(STREAMING).preflight(requested))[b"access-control-allow-headers"]
    assert allowed == ALLOWED_HEADERS + b", mcp-param-region, mcp-param-b"


def test_verdicts_are_cached() -> None:
    head_policy = HeadPolicy(STREAMING)
    assert head_policy.judge(POST) is head_policy.judge(RequestHead(*POST))


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (b"application/json", True),
        (b"Application/JSON", True),
        (b"application/json; charset=utf-8", True),
        (b'application/json;charset="UTF-8"', True),
        (b"application/json; charset=utf8", True),
        (b"application/json; profile=x", True),
        (b"application/json;", True),
        (b"application/json; charset=latin-1", False),
        (b"application/json; charset=utf-16", False),
        (b"application/jsonp", False),
        (b"application/x-www-form-urlencoded", False),
        (b"text/plain", False),
        (b"", False),
        (None, False),
    ],
)
def test_content_type(value: bytes | None, fits: bool) -> None:
    assert (content_type_problem(value) is None) is fits


@pytest.mark.parametrize(
    ("accept", "missing"),
    [
        (b"application/json,text/event-stream", []),
        (b"APPLICATION/JSON , Text/Event-Stream", []),
        (b"application/json;q=0.5, text/event-stream;q=0.1", []),
        (b"application/json, text/event-stream;q=0", ["text/event-stream"]),
        (b"application/json, text/event-stream; q=0.000", ["text/event-stream"]),
        (b"*/*", []),
        (b"*/*;q=0", ["application/json", "text/event-stream"]),
        (b"text/*", ["application/json"]),
        (b"", ["application/json", "text/event-stream"]),
        (None, ["application/json", "text/event-stream"]),
        (b"application/json-rpc, text/event-streams", ["application/json", "text/event-stream"]),
    ],
)
def test_missing_types(accept: bytes | None, missing: list[str]) -> None:
    assert missing_types(accept, ("application/json", "text/event-stream")) == missing


@pytest.mark.parametrize(
    ("accept", "preferred"),
    [
        (b"application/json, text/event-stream", False),
        (b"text/event-stream, application/json", True),
        (b"application/json;q=0.5, text/event-stream", True),
        (b"text/event-stream;q=0.5, application/json", False),
        (b"application/json;q=0.5, text/event-stream;q=0.5", False),
        (b"text/event-stream; q=high, application/json", False),
        (b"text/event-stream, */*", True),
        (b"*/*", False),
        (None, False),
    ],
)
def test_stream_is_preferred_by_quality_else_by_order(accept: bytes | None, preferred: bool) -> None:
    assert prefers_stream(accept) is preferred


@pytest.mark.parametrize(("policy", "preferred"), [(STREAMING, True), (PLAIN, False)])
def test_plain_endpoint_never_streams(policy: HttpPolicy, preferred: bool) -> None:
    admission = judge(policy, accept=b"text/event-stream, application/json")
    assert admission == Admission(BY_DATE["2025-11-25"], None, (), preferred)


@pytest.mark.parametrize(
    "name",
    [
        b"host",
        b"origin",
        b"content-type",
        b"mcp-protocol-version",
        b"mcp-session-id",
        b"last-event-id",
    ],
)
def test_headers_that_decisions_depend_on_may_not_repeat(name: bytes) -> None:
    pairs = [(name, b"a"), (b"x", b"b"), (name, b"a")]
    refusal = merge_headers(pairs, dict(pairs))
    assert refusal == Refusal(400, f"header given twice: {name.decode()}")


def test_other_headers_may_come_twice() -> None:
    pairs = [(b"x-forwarded-for", b"a"), (b"x-forwarded-for", b"b"), (b"host", b"c")]
    headers = dict(pairs)
    assert merge_headers(pairs, headers) is None
    assert headers == {b"x-forwarded-for": b"b", b"host": b"c"}


def test_accept_is_a_list_and_may_be_spread_over_several_headers() -> None:
    """RFC 9110, 5.3: list-valued fields may be split."""
    pairs = [(b"accept", b"application/json"), (b"accept", b"text/event-stream")]
    headers = dict(pairs)
    assert merge_headers(pairs, headers) is None
    assert headers == {b"accept": b"application/json, text/event-stream"}


@pytest.mark.parametrize(
    ("refusal", "body"),
    [
        (Refusal(400, "no"), {"jsonrpc": "2.0", "error": {"code": -32600, "message": "no"}}),
        (
            Refusal(404, "gone", request_id=7),
            {"jsonrpc": "2.0", "id": 7, "error": {"code": -32600, "message": "gone"}},
        ),
    ],
)
def test_refusal_is_a_json_rpc_error(refusal: Refusal, body: dict[str, Any]) -> None:
    assert json.loads(refusal.body()) == body

"""Checks of requests that describe themselves, on traces written by hand."""

from typing import Any

import pytest

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT_KEY, SERVER_KEY, VERSION_KEY
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import PER_REQUEST
from tests.lab.suite.judging import seen
from tests.lab.traces import http_trace, request, result, stdio_trace

NEW = PER_REQUEST[-1]
FULL = {VERSION_KEY: NEW.date, CAPABILITIES_KEY: {}}
SERVER = {SERVER_KEY: {"name": "s", "version": "1"}}
DISCOVERED = {
    "supportedVersions": [NEW.date],
    "capabilities": {},
    "ttlMs": 0,
    "cacheScope": "public",
    "resultType": "complete",
    "_meta": SERVER,
}
DISCOVER = "server/discover"


def error(number: Any, code: Any, **data: Any) -> dict[str, Any]:
    told = {"code": code, "message": "no", **({"data": data} if data else {})}
    return {"jsonrpc": "2.0", "id": number, "error": told}


def talk(*turns: tuple[str, dict[str, Any] | None, dict[str, Any]]) -> Trace:
    """Requests as `(method, _meta, answer)`; parameters of the answer's own id."""
    lines: list[tuple[str, Any]] = []
    for number, (method, meta, answer) in enumerate(turns):
        params = {} if meta is None else {"_meta": meta}
        lines += [(">", request(number, method, **params)), ("<", {**answer, "id": number})]
    return stdio_trace(*lines, revision=NEW)


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in DISCOVERED.items() if name != key}


@pytest.mark.parametrize(
    ("answer", "broken"),
    [
        (result(0, **DISCOVERED), set()),
        (error(0, -32601), {"VER-03"}),
        (error(0, -32603), set()),
        (result(0, **without("supportedVersions")), {"VER-04"}),
        (result(0, **{**DISCOVERED, "supportedVersions": ["1999-01-01"]}), {"VER-04"}),
        (result(0, **{**DISCOVERED, "supportedVersions": NEW.date}), {"VER-04"}),
        (result(0, **without("capabilities")), {"VER-04"}),
        (result(0, **without("cacheScope")), {"VER-04"}),
        (result(0, **without("_meta")), {"VER-05"}),
    ],
)
def test_discovery(answer: Any, broken: set[str]) -> None:
    assert {
        row for row, holds in seen("stateless.discovery", talk((DISCOVER, FULL, answer))) if not holds
    } == broken


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("io.modelcontextprotocol/ui", True),
        ("com.example/a_b.c-d", True),
        ("a/", True),
        ("models", False),
        ("1a.b/c", False),
        ("a-.b/c", False),
        ("a.b/_c", False),
        ("a..b/c", False),
    ],
)
def test_names_of_extensions(name: str, holds: bool) -> None:
    answer = result(0, **{**DISCOVERED, "capabilities": {"extensions": {name: {}}}})
    assert ("VER-06", holds) in seen("stateless.discovery", talk((DISCOVER, FULL, answer)))


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        (error(0, -32022, supported=[NEW.date], requested="1900-01-01"), True),
        (error(0, -32022, supported=[NEW.date]), False),
        (error(0, -32022, supported=["2025-01-01"], requested="1900-01-01"), False),
        (error(0, -32022, supported=[NEW.date, "1900-01-01"], requested="1900-01-01"), False),
        (error(0, -32022, supported=NEW.date, requested="1900-01-01"), False),
        (error(0, -32602, supported=[NEW.date], requested="1900-01-01"), False),
        (result(0, **DISCOVERED), False),
    ],
)
def test_versions(answer: Any, holds: bool) -> None:
    meta = {**FULL, VERSION_KEY: "1900-01-01"}
    assert seen("stateless.versions", talk((DISCOVER, meta, answer))) == [("VER-01", holds)]


def test_a_handshake_that_is_refused_names_versions() -> None:
    known = (DISCOVER, FULL, result(0, **DISCOVERED))
    for answer, expected in (
        (error(1, -32601), [("VER-10", False)]),
        (error(1, -32022, supported=[NEW.date]), [("VER-10", True)]),
        (result(1, protocolVersion="2025-11-25"), []),
    ):
        assert seen("stateless.versions", talk(known, ("initialize", None, answer))) == expected


@pytest.mark.parametrize("lacking", [VERSION_KEY, CAPABILITIES_KEY])
def test_required_meta(lacking: str) -> None:
    meta = {key: value for key, value in FULL.items() if key != lacking}
    good = (DISCOVER, FULL, result(0, **DISCOVERED))
    refused, served = (DISCOVER, meta, error(0, -32602)), (DISCOVER, meta, result(0, **DISCOVERED))
    assert seen("stateless.required-meta", talk(refused)) == [("META-08", True)]
    assert seen("stateless.required-meta", talk(served)) == [("META-08", False)]
    assert seen("stateless.required-meta", talk((DISCOVER, meta, error(0, -32600)))) == [("META-08", False)]
    after = {
        name: seen("stateless.required-meta", talk(first, good, second))
        for name, first, second in (("refused", refused, refused), ("kept", refused, served))
    }
    assert after["refused"] == [("META-08", True), ("BASE-27", True)]
    assert after["kept"] == [("META-08", True), ("BASE-27", False)]


def test_what_a_new_connection_is_served_too_was_not_taken_from_an_earlier_request() -> None:
    good = (DISCOVER, FULL, result(0, **DISCOVERED))
    served = (DISCOVER, {VERSION_KEY: NEW.date}, result(0, **DISCOVERED))
    assert seen("stateless.required-meta", talk(served, good, served)) == [("META-08", False)] * 2
    assert seen("stateless.required-meta", talk(good, served)) == [("META-08", False)]


def test_version_that_only_a_new_connection_refuses_was_taken_from_an_earlier_request() -> None:
    good = (DISCOVER, FULL, result(0, **DISCOVERED))
    unknown = {**FULL, VERSION_KEY: "1900-01-01"}
    served = (DISCOVER, unknown, result(0, **DISCOVERED))
    refused = (DISCOVER, unknown, error(0, -32022, supported=[NEW.date], requested="1900-01-01"))
    assert seen("stateless.versions", talk(refused, good, served)) == [("VER-01", True), ("BASE-27", False)]
    assert seen("stateless.versions", talk(served, good, served)) == [("VER-01", False)] * 2


def test_a_request_that_may_be_of_an_earlier_revision_is_not_judged() -> None:
    assert not seen("stateless.required-meta", talk(("tools/list", None, result(0, tools=[]))))


def on_http(meta: str, status: int, answer: bytes) -> Trace:
    head = f"POST /mcp HTTP/1.1\r\nMCP-Protocol-Version: {NEW.date}\r\n\r\n"
    body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{meta}}}}}'
    response = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n\r\n"
    frames = [
        (">", "1/post-1", Kind.REQUEST, (head + body).encode()),
        ("<", "1/post-1", Kind.HEAD, response.encode()),
        ("<", "1/post-1", Kind.BODY, answer),
    ]
    return http_trace(frames if answer else frames[:2], NEW)


@pytest.mark.parametrize(
    ("status", "answer", "holds"),
    [
        (400, b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}', True),
        (400, b'{"jsonrpc":"2.0","error":{"code":-32602,"message":"no"}}', True),
        (400, b'{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"no"}}', True),
        (200, b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}', False),
        (400, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}', False),
        (400, b"", False),
        (400, b'{"error":"bad request"}', False),
    ],
)
def test_required_meta_on_http(status: int, answer: bytes, holds: bool) -> None:
    assert seen("stateless.required-meta", on_http("", status, answer)) == [("META-08", holds)]


def test_a_refused_version_without_an_id_on_http() -> None:
    meta = f'"_meta":{{"{VERSION_KEY}":"1900-01-01"}}'
    data = f'{{"supported":["{NEW.date}"],"requested":"1900-01-01"}}'
    good = f'{{"jsonrpc":"2.0","error":{{"code":-32022,"message":"no","data":{data}}}}}'.encode()
    assert seen("stateless.versions", on_http(meta, 400, good)) == [("VER-01", True)]
    assert seen("stateless.versions", on_http(meta, 400, b"")) == [("VER-01", False)]


@pytest.mark.parametrize(
    ("content", "capabilities", "expected"),
    [
        ({"resultType": "complete"}, {}, [("BASE-17", True), ("VER-07", True)]),
        ({}, {}, [("BASE-17", False)]),
        ({"resultType": 1}, {}, [("BASE-17", False)]),
        ({"resultType": "task"}, {}, [("BASE-17", True), ("VER-07", False)]),
        ({"resultType": "task"}, {"extensions": {"a/b": {}}}, [("BASE-17", True)]),
    ],
)
def test_result_type(content: Any, capabilities: Any, expected: Any) -> None:
    meta = {**FULL, CAPABILITIES_KEY: capabilities}
    assert seen("stateless.result-type", talk(("tools/list", meta, result(0, **content)))) == expected
    assert not seen("stateless.result-type", talk(("tools/list", None, result(0, **content))))


GOOD_PARENT = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"


@pytest.mark.parametrize(
    ("key", "value", "holds"),
    [
        ("traceparent", GOOD_PARENT, True),
        ("traceparent", GOOD_PARENT.upper(), False),
        ("traceparent", "00-" + "0" * 32 + "-00f067aa0ba902b7-01", False),
        ("traceparent", "ff" + GOOD_PARENT[2:], False),
        ("traceparent", "abc", False),
        ("traceparent", 1, False),
        ("tracestate", "rojo=00f067aa0ba902b7, congo=t61rcWkgMzE", True),
        ("tracestate", "Rojo", False),
        ("baggage", "userId=alice, isProduction=false;ttl=1", True),
        ("baggage", "user id", False),
    ],
)
def test_trace_context(key: str, value: Any, holds: bool) -> None:
    answer = result(0, resultType="complete", _meta={**SERVER, key: value})
    found = seen("stateless.result-meta", talk(("tools/list", FULL, answer)))
    assert found == [("META-11", True), ("META-13", holds)]


def test_results_without_a_server() -> None:
    assert seen("stateless.result-meta", talk(("tools/list", FULL, result(0)))) == [("META-11", False)]


@pytest.mark.parametrize(("code", "holds"), [(-32002, False), (-32042, False), (-32602, True)])
def test_retired_codes(code: int, holds: bool) -> None:
    assert seen("stateless.retired-codes", talk(("tools/call", FULL, error(0, code)))) == [("BASE-24", holds)]
    assert not seen("stateless.retired-codes", talk(("tools/call", None, error(0, code))))


def test_requests_of_the_server() -> None:
    ping = ("<", request("p", "ping"))
    ask = ("<", request("q", "roots/list"))
    assert seen("stateless.only-clients-ask", stdio_trace(ping, revision=NEW)) == [("BASE-32", False)]
    found = seen("stateless.only-clients-ask", stdio_trace(ask, revision=NEW))
    assert found == [("BASE-32", False), ("MR-01", False)]
    handshake = ((">", request(1, "initialize")), ("<", result(1)))
    assert not seen("stateless.only-clients-ask", stdio_trace(*handshake, ask, revision=NEW))


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        ({"ttlMs": 0, "cacheScope": "public"}, [("CA-01", True), ("CA-03", True)]),
        ({"ttlMs": -1, "cacheScope": "private"}, [("CA-01", True), ("CA-03", False)]),
        ({"ttlMs": 1.5, "cacheScope": "private"}, [("CA-01", False)]),
        ({"ttlMs": 1}, [("CA-01", False), ("CA-03", True)]),
        ({"ttlMs": 1, "cacheScope": "shared"}, [("CA-01", False), ("CA-03", True)]),
        ({"resultType": "input_required"}, []),
    ],
)
def test_cache_hints(hints: Any, expected: Any) -> None:
    assert seen("stateless.cache-hints", talk(("resources/read", FULL, result(0, **hints)))) == expected
    assert not seen("stateless.cache-hints", talk(("tools/call", FULL, result(0, **hints))))


@pytest.mark.parametrize(("second", "holds"), [("public", True), ("private", False)])
def test_cache_pages(second: str, holds: bool) -> None:
    trace = stdio_trace(
        (">", request(1, "tools/list")),
        ("<", result(1, tools=[], nextCursor="2", cacheScope="public")),
        (">", request(2, "tools/list", cursor="2")),
        ("<", result(2, tools=[], cacheScope=second)),
        revision=NEW,
    )
    assert seen("stateless.cache-pages", trace) == [("CA-04", holds)]


@pytest.mark.parametrize(("kind", "holds"), [("complete", True), ("task", False)])
def test_result_types_of_a_server_without_extensions(kind: str, holds: bool) -> None:
    discovered = (DISCOVER, FULL, result(0, **DISCOVERED))
    listed = ("tools/list", FULL, result(0, resultType=kind))
    assert ("BASE-20", holds) in seen("stateless.result-type", talk(discovered, listed))


@pytest.mark.parametrize(
    ("other", "answer", "expected"),
    [
        ({"name": "b"}, result(0, **DISCOVERED), [("META-12", True)]),
        ({"name": "b"}, result(0, **{**DISCOVERED, "capabilities": {"tools": {}}}), [("META-12", False)]),
        ({"name": "b"}, error(0, -32602), [("META-12", False)]),
        ({"name": "a"}, error(0, -32602), []),
    ],
)
def test_names_of_clients(other: Any, answer: Any, expected: Any) -> None:
    one, two = ({**FULL, CLIENT_KEY: client} for client in ({"name": "a"}, other))
    trace = talk((DISCOVER, one, result(0, **DISCOVERED)), (DISCOVER, two, answer))
    assert seen("stateless.any-client", trace) == expected

"""Checks of JSON-RPC on traces written by hand: what they find, and what they leave alone."""

from typing import Any

import pytest

from assay.lab.harness.trace.frame import Header, Kind
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE, PER_REQUEST, REVISIONS
from assay.revisions.revision import Batching, Revision
from tests.lab.suite.judging import seen
from tests.lab.traces import http_trace, probed, request, result, stdio_trace

HELD, BROKEN = True, False
NEWEST = PER_REQUEST[-1]
BATCHING = next(one for one in REVISIONS if one.batching is Batching.ACCEPTED)
POST = b"POST /mcp HTTP/1.1\r\nHost: x\r\n\r\n"
SESSION = b"POST /mcp HTTP/1.1\r\nMcp-Session-Id: s\r\n\r\n"
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def error(code: Any = -32601, message: Any = "no", **rest: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **rest, "error": {"code": code, "message": message}}


def http_answer(status: int, body: bytes, sent: bytes = POST + PING) -> Trace:
    head = b"HTTP/1.1 %d Said\r\nContent-Type: application/json\r\n\r\n" % status
    return http_trace(
        [
            (">", "1/post-1", Kind.REQUEST, sent),
            ("<", "1/post-1", Kind.HEAD, head),
            ("<", "1/post-1", Kind.BODY, body),
        ]
    )


def verdicts(check: str, row: str, trace: Trace) -> list[bool]:
    return [holds for cited, holds in seen(check, trace) if cited == row]


@pytest.mark.parametrize(
    ("message", "revision", "holds"),
    [
        (result(1), NEWEST, HELD),
        ({"id": 1, "result": {}}, NEWEST, BROKEN),
        ({"jsonrpc": 2.0, "id": 1, "result": {}}, NEWEST, BROKEN),
        ("a text", NEWEST, BROKEN),
        ([result(1)], NEWEST, BROKEN),
        ([result(1)], BATCHING, HELD),
        ([], NEWEST, BROKEN),
    ],
)
def test_a_message_is_an_object_of_its_version(message: Any, revision: Revision, holds: bool) -> None:
    assert verdicts("jsonrpc.version", "BASE-01", stdio_trace(("<", message), revision=revision)) == [holds]


def test_a_line_that_is_no_json_is_an_affair_of_framing() -> None:
    assert not seen("jsonrpc.version", stdio_trace(("<", b"Server started.\n")))


@pytest.mark.parametrize("check", ["jsonrpc.version", "jsonrpc.one-outcome", "jsonrpc.error-shape"])
@pytest.mark.parametrize("body", [b'{"detail":"Not Found"}', b'{"error":"invalid_token"}', b"null", b"{}"])
def test_what_http_says_with_an_error_need_not_be_json_rpc(check: str, body: bytes) -> None:
    assert not seen(check, http_answer(404, body))
    assert not seen(check, http_answer(202, body))


def test_a_body_that_should_be_a_message_and_is_none_is_found() -> None:
    assert verdicts("jsonrpc.version", "BASE-01", http_answer(200, b"oops")) == [BROKEN]
    assert verdicts("jsonrpc.version", "BASE-01", http_answer(200, b'{"ok":true}')) == [BROKEN]


@pytest.mark.parametrize(
    ("answers", "holds"),
    [
        ([result(1)], [HELD]),
        ([result(1), result(1)], [BROKEN]),
        ([result("1")], [BROKEN]),
        ([result(None)], [BROKEN]),
        ([error(id=None)], []),
        ([error()], []),
        ([error(id="made up")], [BROKEN]),
    ],
)
def test_a_response_names_one_request(answers: list[Any], holds: list[bool]) -> None:
    trace = stdio_trace((">", request(1, "a")), *(("<", one) for one in answers))
    assert verdicts("jsonrpc.reply-id", "BASE-06", trace) == holds


def test_an_answer_to_rubbish_may_be_called_anything() -> None:
    trace = stdio_trace((">", b"rubbish\n"), ("<", error(-32700, id="server-error")))
    assert not seen("jsonrpc.reply-id", trace)
    assert not seen("jsonrpc.named-errors", trace)


def test_a_resumed_stream_may_repeat_an_answer() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    event = b'id: 2\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'
    trace = http_trace(
        [
            (">", "1/post-1", Kind.REQUEST, POST + PING),
            ("<", "1/post-1", Kind.HEAD, head),
            ("<", "1/post-1", Kind.EVENT, event),
            (">", "1/get-2", Kind.REQUEST, b"GET /mcp HTTP/1.1\r\nLast-Event-ID: 1\r\n\r\n"),
            ("<", "1/get-2", Kind.HEAD, head),
            ("<", "1/get-2", Kind.EVENT, event),
        ]
    )
    assert verdicts("jsonrpc.reply-id", "BASE-06", trace) == [HELD]


@pytest.mark.parametrize(
    ("status", "code", "holds"),
    [
        (200, -32601, [BROKEN]),
        (404, -32601, [BROKEN]),
        (400, -32602, [BROKEN]),
        (400, -32000, []),
        (403, -32600, []),
        (404, -32001, []),
    ],
)
def test_http_may_refuse_without_an_id_what_it_has_not_read(
    status: int, code: int, holds: list[bool]
) -> None:
    body = b'{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":"no"}}' % code
    assert verdicts("jsonrpc.named-errors", "BASE-09", http_answer(status, body)) == holds


def test_an_error_without_an_id_is_found_where_all_was_readable() -> None:
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    trace = stdio_trace((">", initialized), (">", request(1, "a")), ("<", error()), ("<", error(id=1)))
    assert verdicts("jsonrpc.named-errors", "BASE-09", trace) == [HELD, BROKEN]


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        (request("a", "ping"), {"BASE-02": HELD, "BASE-03": HELD, "BASE-04": HELD}),
        (request(None, "ping"), {"BASE-03": BROKEN, "BASE-04": HELD}),
        (request(1.5, "ping"), {"BASE-02": BROKEN, "BASE-03": HELD, "BASE-04": HELD}),
        (request(True, "ping"), {"BASE-02": BROKEN, "BASE-03": HELD, "BASE-04": HELD}),
        ({"jsonrpc": "2.0", "method": "roots/list"}, {"BASE-02": BROKEN, "BASE-03": HELD, "BASE-04": HELD}),
        (request(None, "notifications/message"), {}),
        ({"jsonrpc": "2.0", "method": "custom/event"}, {}),
    ],
)
def test_what_a_server_asks_has_an_id_of_its_own(asked: Any, rows: dict[str, bool]) -> None:
    assert dict(seen("jsonrpc.request-ids", stdio_trace(("<", asked)))) == rows


def test_an_id_is_used_once_in_a_session() -> None:
    trace = stdio_trace(("<", request(1, "ping")), ("<", request("1", "ping")), ("<", request(1, "ping")))
    assert verdicts("jsonrpc.request-ids", "BASE-04", trace) == [HELD, HELD, BROKEN]


@pytest.mark.parametrize(("head", "holds"), [(SESSION, [HELD, BROKEN]), (POST, [])])
def test_without_a_session_every_call_may_count_anew(head: bytes, holds: list[bool]) -> None:
    stream = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    asks = b'data: {"jsonrpc":"2.0","id":1,"method":"ping"}\n\n'
    frames = [
        frame
        for channel in ("1/post-1", "1/post-2")
        for frame in (
            (">", channel, Kind.REQUEST, head + PING),
            ("<", channel, Kind.HEAD, stream),
            ("<", channel, Kind.EVENT, asks),
        )
    ]
    assert verdicts("jsonrpc.request-ids", "BASE-04", http_trace(frames)) == holds


@pytest.mark.parametrize(
    ("answer", "status", "holds"),
    [
        (None, 202, HELD),
        (b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}', 400, HELD),
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}', 400, HELD),
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}', 200, BROKEN),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}', 400, BROKEN),
        (b'{"jsonrpc":"2.0","id":null,"result":{}}', 200, BROKEN),
    ],
)
def test_a_notification_is_refused_by_status_or_not_at_all(
    answer: bytes | None, status: int, holds: bool
) -> None:
    sent = POST + b'{"jsonrpc":"2.0","method":"notifications/x"}'
    trace = probed(http_answer(status, answer or b"", sent), "notification")
    assert verdicts("jsonrpc.silent-notifications", "BASE-10", trace) == [holds]


@pytest.mark.parametrize(
    ("answers", "holds"),
    [
        ([[result("a"), result("b")]], [HELD, HELD]),
        ([result("b"), result("a")], [HELD, HELD]),
        ([[result("a"), error(id="b")]], [HELD, HELD]),
        ([result("a")], [HELD, BROKEN]),
        ([error(-32600)], [BROKEN, BROKEN]),
        ([[error(-32600, id="a"), error(-32600, id="b")]], [BROKEN, BROKEN]),
    ],
)
def test_every_request_of_a_batch_is_answered(answers: list[Any], holds: list[bool]) -> None:
    batch = [request("a", "ping"), {"jsonrpc": "2.0", "method": "x"}, request("b", "ping")]
    trace = stdio_trace((">", batch), *(("<", one) for one in answers), revision=BATCHING)
    assert verdicts("jsonrpc.batches", "BASE-14", probed(trace, "batch")) == holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("There is no such method.", HELD),
        ("", BROKEN),
        ("one\ntwo", BROKEN),
        ("x" * 400, HELD),
        ("x" * 401, BROKEN),
    ],
)
def test_an_error_is_told_in_one_sentence(text: str, holds: bool) -> None:
    assert verdicts("jsonrpc.error-text", "BASE-16", stdio_trace(("<", error(message=text)))) == [holds]


@pytest.mark.parametrize(
    ("code", "broken"),
    [
        *((code, None) for code in (-32700, -32600, -32601, -32602, -32603, -32021, -32022, 1, -31999)),
        *((code, None) for code in (-32002, -32042, -32769, 404)),
        *((code, "BASE-21") for code in (-32000, -32001, -32019)),
        *((code, "BASE-23") for code in (-32023, -32050, -32099)),
        *((code, "BASE-25") for code in (-32100, -32500, -32604, -32768)),
    ],
)
def test_codes_come_from_where_they_may(code: int, broken: str | None) -> None:
    found = seen("jsonrpc.error-codes", stdio_trace(("<", error(code)), revision=NEWEST))
    assert [row for row, holds in found if not holds] == ([broken] if broken else [])


def test_a_complaint_about_headers_needs_headers() -> None:
    found = seen("jsonrpc.error-codes", stdio_trace(("<", error(-32020)), revision=NEWEST))
    assert [row for row, holds in found if not holds] == ["BASE-23"]
    body = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"no"}}'
    trace = Trace(Header(NEWEST.date, "http", "x", "x", closed=True), http_answer(400, body).frames)
    assert all(holds for _, holds in seen("jsonrpc.error-codes", trace))


@pytest.mark.parametrize(
    ("sent", "code", "revision", "holds"),
    [
        (b"rubbish\n", -32700, NEWEST, [HELD]),
        (b"rubbish\n", -32603, NEWEST, [BROKEN]),
        ({}, -32600, HANDSHAKE[-1], [HELD]),
        ({}, -32602, HANDSHAKE[-1], [BROKEN]),
        ({}, -32602, NEWEST, [HELD]),
        ({"jsonrpc": "2.0", "id": 1, "method": "a", "params": []}, -32602, HANDSHAKE[-1], [HELD]),
        ({"jsonrpc": "1.0", "id": 1, "method": "a"}, -32601, HANDSHAKE[-1], []),
        (request(1, "a"), -32603, HANDSHAKE[-1], []),
        ({"jsonrpc": "2.0", "method": "a"}, -32603, HANDSHAKE[-1], []),
    ],
)
def test_what_is_no_request_has_its_code(sent: Any, code: int, revision: Revision, holds: list[bool]) -> None:
    trace = stdio_trace((">", sent), ("<", error(code)), revision=revision)
    assert verdicts("jsonrpc.refusal-codes", "RPC-01", trace) == holds


@pytest.mark.parametrize(
    ("key", "broken"),
    [
        *(
            (key, None)
            for key in ("progressToken", "io.modelcontextprotocol/serverInfo", "com.example/", "a")
        ),
        *((key, None) for key in ("vendor/key", "x-y.z9/a.b-c_d", "openai/outputTemplate", "com/x", "")),
        *((key, "META-01") for key in ("my_app/x", "1st.example/x", "a-/x", "a..b/x", "/x")),
        *((key, "META-02") for key in ("$id", "-x", "x_", "two words", "com.example/a/b", "com.example/-a")),
        *((key, "META-04") for key in ("example.com/x", "api.example.org/x")),
    ],
)
def test_keys_of_meta_follow_the_grammar(key: str, broken: str | None) -> None:
    found = seen("jsonrpc.meta-keys", stdio_trace(("<", result(1, _meta={key: 1})), revision=NEWEST))
    assert {row for row, holds in found if not holds} == ({broken} if broken else set())


def test_only_the_protocols_own_meta_is_judged() -> None:
    content = {"structuredContent": {"_meta": {"$": 1}}, "tools": [{"inputSchema": {"_meta": {"$": 1}}}]}
    assert not seen("jsonrpc.meta-keys", stdio_trace(("<", result(1, **content)), revision=NEWEST))
    nested = result(1, tools=[{"name": "x", "_meta": {"$": 1}}])
    assert seen("jsonrpc.meta-keys", stdio_trace(("<", nested), revision=NEWEST)) == [("META-02", BROKEN)]


@pytest.mark.parametrize(
    ("schema", "rows"),
    [
        ({"type": "object"}, {"JS-04": HELD, "JS-06": HELD}),
        ({"type": "objekt"}, {"JS-04": BROKEN, "JS-06": HELD}),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, {"JS-04": HELD, "JS-06": BROKEN}),
        ({"$schema": "http://127.0.0.1:1/mine", "type": 7}, {"JS-04": HELD, "JS-06": BROKEN}),
        ({"$ref": "http://127.0.0.1:1/elsewhere"}, {"JS-04": HELD, "JS-06": HELD}),
        (None, {}),
    ],
)
def test_schemas_are_judged_by_their_own_dialect(schema: Any, rows: dict[str, bool]) -> None:
    tools = result(1, tools=[{"name": "x", "inputSchema": schema}])
    trace = stdio_trace((">", request(1, "tools/list")), ("<", tools))
    assert dict(seen("jsonrpc.published-schemas", trace)) == rows


@pytest.mark.parametrize(
    ("declared", "answer", "holds"),
    [
        ({}, error(id=2), [HELD]),
        ({}, result(2, prompts=[]), [BROKEN]),
        ({"prompts": {}}, result(2, prompts=[]), []),
    ],
)
def test_a_method_goes_with_its_capability(declared: Any, answer: Any, holds: list[bool]) -> None:
    trace = stdio_trace(
        *((">", request(1, "server/discover")), ("<", result(1, capabilities=declared))),
        *((">", request(2, "prompts/list")), ("<", answer)),
        revision=NEWEST,
    )
    assert verdicts("jsonrpc.unknown-method", "BASE-26", trace) == holds


@pytest.mark.parametrize("content", [None, [], "pong", True])
def test_a_result_is_an_object(content: Any) -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "result": content}
    trace = stdio_trace((">", request(1, "ping")), ("<", answer))
    assert verdicts("jsonrpc.wire-shape", "SHAPE-01", trace) == [BROKEN]


def test_bytes_beyond_ascii_are_utf8() -> None:
    body = '{"jsonrpc":"2.0","id":"ü","result":{}}\n'
    for encoding, holds in (("utf-8", HELD), ("latin-1", BROKEN)):
        trace = stdio_trace(("<", body.encode(encoding)))
        assert verdicts("jsonrpc.utf8", "BASE-12", trace) == [holds]
    assert not seen("jsonrpc.utf8", stdio_trace(("<", result(1))))

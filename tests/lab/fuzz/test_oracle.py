"""The oracles on handwritten traces: what each reports, and what it ignores."""

from collections.abc import Sequence
from typing import Any

import pytest

from assay.lab.fuzz.conversation import MAY_RUN_LONG, NOT_REACHED
from assay.lab.fuzz.judge import TraceJudge
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import SENTINEL, Trace
from assay.lab.suites import protocol_suite
from assay.protocol.framing import websocket as ws
from assay.revisions.registry import HANDSHAKE, REVISIONS
from tests.lab.traces import http_trace, request, result, stdio_trace

PING = request(7, "ping")
LAST = request(f"{SENTINEL}1-1", "ping")
ANSWERED = (">", LAST), ("<", result(LAST["id"]))
REVISION = HANDSHAKE[-1]


def verdict(trace: Trace) -> str | None:
    broken = TraceJudge(protocol_suite()).verdict(trace)
    return None if broken is None else f"{broken.check} {broken.requirement}"


def error(number: Any, code: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": "No."}}


def nameless(code: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "error": {"code": code, "message": "No."}}


def after(trace: Trace, *frames: Frame) -> Trace:
    return Trace(trace.header, (*trace.frames, *frames))


def test_conforming_trace() -> None:
    assert verdict(stdio_trace((">", PING), ("<", result(7)), *ANSWERED)) is None


@pytest.mark.parametrize(
    ("messages", "broken"),
    [
        ([(">", PING), *ANSWERED], "fuzz.answered FUZZ-01"),
        ([(">", PING), (">", LAST)], "fuzz.goes-on FUZZ-03"),
        ([(">", PING), ("<", result(8)), *ANSWERED], "jsonrpc.reply-id BASE-06"),
        ([(">", PING), ("<", result(7)), ("<", result(7)), *ANSWERED], "jsonrpc.reply-id BASE-06"),
        (
            [(">", request(7, "no/such")), ("<", error(7, -32602)), *ANSWERED],
            "jsonrpc.unknown-method BASE-26",
        ),
        ([(">", b"nonsense\n"), ("<", nameless(-32603)), *ANSWERED], "fuzz.codes RPC-01"),
        (
            [(">", request(7, "prompts/get", name=[])), ("<", error(7, -32603)), *ANSWERED],
            "fuzz.codes FUZZ-04",
        ),
        ([(">", PING), ("<", b"hello\n"), ("<", result(7)), *ANSWERED], "framing.pure-stdout STD-02"),
        (
            [(">", request(7, "tools/list")), ("<", result(7, tools=3)), *ANSWERED],
            "jsonrpc.wire-shape SHAPE-01",
        ),
    ],
)
def test_fault_is_reported(messages: Sequence[tuple[str, Any]], broken: str) -> None:
    assert verdict(stdio_trace(*messages)) == broken


@pytest.mark.parametrize(
    "messages",
    [
        [(">", b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\\ud800"}}\n'), *ANSWERED],
        [(">", b'{"id":6,"jsonrpc":"2.0","id":7,"method":"ping"}\n'), ("<", result(6)), *ANSWERED],
        [(">", request(7, "ping", x=[0] * 20_000)), *ANSWERED],
        [(">", request(None, "ping")), ("<", nameless(-32600)), *ANSWERED],
        [(">", b"nonsense\n"), *ANSWERED],
        [(">", b"[1e999]\n"), ("<", [nameless(-32700)]), *ANSWERED],
        [(">", [PING, PING]), ("<", nameless(-32600)), *ANSWERED],
        [
            (">", PING),
            (">", {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}),
            *ANSWERED,
        ],
        [(">", {"jsonrpc": "2.0", "method": "no/such", "params": 3}), ("<", nameless(-32600)), *ANSWERED],
    ],
)
def test_unspecified_behaviour_is_not_reported(messages: Sequence[tuple[str, Any]]) -> None:
    assert verdict(stdio_trace(*messages)) is None


def test_tool_call_may_take_long() -> None:
    call = request(7, "tools/call", name="sleep")
    mark = Frame(0, 0.0, Sender.DRIVER, "1/marks", Kind.MARK, info={"label": MAY_RUN_LONG, "frame": 1})
    trace = stdio_trace((">", {}), (">", call), (">", LAST))
    assert verdict(Trace(trace.header, (mark, *trace.frames[1:]))) is None
    assert verdict(stdio_trace((">", call), (">", LAST))) == "fuzz.goes-on FUZZ-03"


def test_exit_of_the_process_is_a_crash_with_any_status() -> None:
    end = Frame(2, 0.0, Sender.SUBJECT, "1/lines", Kind.EXIT, info={"status": 0})
    assert verdict(after(stdio_trace((">", PING), (">", LAST)), end)) == "fuzz.alive FUZZ-02"


def test_unreachable_server_is_reported() -> None:
    mark = Frame(
        2, 0.0, Sender.DRIVER, "1/marks", Kind.MARK, info={"label": NOT_REACHED, "reason": "refused"}
    )
    assert verdict(after(stdio_trace((">", PING), (">", LAST)), mark)) == "fuzz.alive FUZZ-02"


def test_request_without_a_revision_may_be_served_by_another() -> None:
    messages = (">", request(7, "prompts/list")), ("<", result(7, prompts=[]))
    assert verdict(stdio_trace(*messages, revision=REVISIONS[-1])) is None
    params = declared(REVISIONS[-1], {}, {})
    messages = (">", request(7, "prompts/list", **params)), ("<", result(7, prompts=[]))
    assert verdict(stdio_trace(*messages, revision=REVISIONS[-1])) == "jsonrpc.wire-shape SHAPE-01"


def test_ended_session_excuses_another_code() -> None:
    body = b'{"jsonrpc":"2.0","id":7,"method":"no/such"}'
    refused = b'{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"No."}}'
    head = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n\r\n"
    call = [
        (">", "1/post-2", Kind.REQUEST, POST + body),
        ("<", "1/post-2", Kind.HEAD, head),
        ("<", "1/post-2", Kind.BODY, refused),
    ]
    ended = (">", "1/delete-1", Kind.REQUEST, POST.replace(b"POST", b"DELETE"))
    assert verdict(http_trace(call)) == "jsonrpc.unknown-method BASE-26"
    assert verdict(http_trace([ended, *call])) is None


POST = b"POST /mcp HTTP/1.1\r\nHost: localhost:1\r\n\r\n"


def exchange(status: bytes, body: bytes = b"", **end: Any) -> Trace:
    head = b"HTTP/1.1 " + status + b"\r\nContent-Type: application/json\r\n\r\n"
    frames = [(">", "1/post-1", Kind.REQUEST, POST + b'{"jsonrpc":"2.0","id":7,"method":"ping"}')]
    frames += [("<", "1/post-1", Kind.HEAD, head)] if status else []
    frames += [("<", "1/post-1", Kind.BODY, body)] if body else []
    trace = http_trace(frames)
    return after(trace, Frame(len(frames), 0.0, Sender.SUBJECT, "1/post-1", Kind.END, info=end))


@pytest.mark.parametrize(
    ("trace", "broken"),
    [
        (exchange(b"200 OK", b'{"jsonrpc":"2.0","id":7,"result":{}}', clean=True), None),
        (exchange(b"431 Too Large", clean=True), None),
        (exchange(b"202 Accepted", clean=True), "streams.answer-type HTTP-12"),
        (exchange(b"500 Oh", clean=True), "fuzz.statuses FUZZ-04"),
        (exchange(b"", clean=False, problem="cut"), "fuzz.alive FUZZ-02"),
    ],
)
def test_on_http(trace: Trace, broken: str | None) -> None:
    assert verdict(trace) == broken


@pytest.mark.parametrize(("channel", "broken"), [("1/post-2", None), ("1/get-1", "fuzz.alive FUZZ-02")])
def test_only_the_stream_of_http_sse_must_stay_open(channel: str, broken: str | None) -> None:
    end = Frame(0, 0.0, Sender.SUBJECT, channel, Kind.END, info={"clean": True})
    assert verdict(Trace(Header(REVISION.date, "http-sse", "by hand", "fuzz", closed=True), [end])) == broken


@pytest.mark.parametrize(
    ("code", "broken"),
    [
        (ws.INTERNAL, "fuzz.alive FUZZ-02"),
        (None, "fuzz.alive FUZZ-02"),
        (ws.TOO_BIG, None),
        (ws.NOT_TEXT, None),
    ],
)
def test_websocket_closed_without_a_valid_reason_is_a_crash(code: int | None, broken: str | None) -> None:
    frames = [Frame(0, 0.0, Sender.DRIVER, "1/ws", Kind.TEXT, b'{"jsonrpc":"2.0","id":7,"method":"ping"}')]
    if code is not None:
        close = code.to_bytes(2, "big")
        frames.append(Frame(1, 0.0, Sender.SUBJECT, "1/ws", Kind.CONTROL, close, {"what": "close"}))
    frames.append(Frame(len(frames), 0.0, Sender.SUBJECT, "1/ws", Kind.END, info={"clean": True}))
    assert verdict(Trace(Header(REVISION.date, "ws", "by hand", "fuzz", closed=True), frames)) == broken

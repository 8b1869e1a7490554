"""Checks are total: whatever is in a trace, they find something or nothing, and never raise."""

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.lab.harness.run.recording import judge
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import protocol_suite
from assay.revisions.registry import REVISIONS
from tests.lab.traces import stdio_trace

SUITE = protocol_suite()
METHODS = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "server/discover",
    "notifications/progress",
    "notifications/message",
    "notifications/cancelled",
    "notifications/initialized",
    "logging/setLevel",
    "completion/complete",
    "subscriptions/listen",
    "odd",
]
KEYS = ["tools", "name", "inputSchema", "outputSchema", "structuredContent", "content", "nextCursor", "_meta"]
KEYS += ["protocolVersion", "capabilities", "logging", "progressToken", "progress", "level", "requestId"]
KEYS += ["cursor", "completion", "values", "resultType", "message"]
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | values,
        "id": st.integers(1, 3) | values,
        "method": st.sampled_from(METHODS) | values,
        "params": values,
        "result": values,
        "error": values,
    },
)
HEADS = [b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", b"HTTP/1.1 x\r\n\r\n", b""]
raws = st.one_of(
    messages.map(lambda value: msgspec.json.encode(value) + b"\n"),
    messages.map(lambda value: b"POST / HTTP/1.1\r\nMcp-Session-Id: a\r\n\r\n" + msgspec.json.encode(value)),
    messages.map(lambda value: b"id: 1\ndata: " + msgspec.json.encode(value) + b"\n\n"),
    st.sampled_from(HEADS),
    st.binary(max_size=20),
)
info = st.dictionaries(st.sampled_from(["label", "name", "begin", "id", "status"]), values, max_size=3)
parts = st.tuples(
    st.sampled_from(Sender),
    st.sampled_from(["1/lines", "1/post-1", "1/get-2"]),
    st.sampled_from(Kind),
    raws,
    info,
)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(parts, max_size=8),
    st.sampled_from(REVISIONS),
    st.sampled_from(["stdio", "http", "ws", "http-sse"]),
)
def test_checks_never_raise(frames: list[Any], revision: Any, transport: str) -> None:
    header = Header(revision.date, transport, "subject", "scenario", closed=True)
    trace = Trace(header, [Frame(n, float(n), *part) for n, part in enumerate(frames)])
    for result in judge(SUITE, list(SUITE.checks.values()), trace):
        assert result.verdict in {"SUCCESS", "FAILURE", "WARNING", "SKIPPED"}


answers = st.tuples(
    st.sampled_from(METHODS),
    st.dictionaries(st.sampled_from(KEYS), values, max_size=4) | values,
    st.sampled_from(["result", "error"]),
    st.dictionaries(st.sampled_from(KEYS), values, max_size=4) | values,
)


@settings(deadline=None, max_examples=100)
@given(st.lists(answers, min_size=1, max_size=4), st.sampled_from(REVISIONS))
def test_checks_never_raise_on_odd_answers(said: list[tuple[str, Any, str, Any]], revision: Any) -> None:
    turns: list[tuple[str, Any]] = []
    for number, (method, params, kind, content) in enumerate(said):
        turns.append((">", {"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        turns.append(("<", {"jsonrpc": "2.0", "id": number, kind: content}))
    found = judge(SUITE, list(SUITE.checks.values()), stdio_trace(*turns, revision=revision))
    assert {result.id for result in found} <= SUITE.checks.keys()

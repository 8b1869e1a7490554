"""A recording as a mock server, on streams and on HTTP, and as a mock client."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from assay import Client
from assay.certify.replay.comparison import compare
from assay.certify.replay.conversation import ask_everything
from assay.certify.replay.mock_server import serve_http, serve_streams
from assay.certify.replay.playback import MockServer
from assay.certify.replay.replayer import Replayer
from assay.lab.harness.links.http_call import fetch
from assay.lab.harness.run.recording import Conditions, record
from assay.lab.harness.subject.subject import UrlSubject
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE
from tests.certify.replay.in_memory import facts_of, first_recording
from tests.certify.replay.test_replayer import QUICK, reference
from tests.driving.hosts import on_assay
from tests.lab.traces import request, result, stdio_trace


def progress(token: Any, value: int) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": token, "progress": value},
    }


@pytest.fixture
def trace() -> Trace:
    return stdio_trace(
        (">", request(1, "tools/call", name="add", _meta={"progressToken": "t"})),
        ("<", progress("t", 1)),
        ("<", request("q", "roots/list")),
        (">", result("q", roots=[])),
        ("<", result(1, total=3)),
        (">", request(2, "tools/list")),
        ("<", result(2, tools=["first"])),
        (">", request(3, "tools/list")),
        ("<", result(3, tools=["second"])),
    )


async def answers(server: MockServer, *messages: Any) -> list[Any]:
    lines = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in messages]
    source, sink = io.BytesIO(b"\n".join(lines) + b"\n"), io.BytesIO()
    await serve_streams(server, source, sink)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


async def test_requests_get_the_recorded_answers_in_order_and_then_the_last_again(trace: Trace) -> None:
    server = MockServer([trace])
    lists = [request(name, "tools/list") for name in ("a", "b", "c")]
    assert [answer["id"] for answer in await answers(server, *lists)] == ["a", "b", "c"]
    replies = await answers(MockServer([trace]), *lists)
    assert [answer["result"]["tools"] for answer in replies] == [["first"], ["second"], ["second"]]
    assert (server.served, server.unknown) == (3, [])


async def test_progress_and_questions_are_sent_before_the_answer(trace: Trace) -> None:
    call = request(9, "tools/call", name="add", _meta={"progressToken": 5})
    sent = await answers(MockServer([trace]), call, result("q", roots=[{"uri": "file:///x"}]))
    assert sent == [progress(5, 1), request("q", "roots/list"), result(9, total=3)]


async def test_a_client_that_asks_for_no_progress_gets_none(trace: Trace) -> None:
    sent = await answers(MockServer([trace]), request(9, "tools/call", name="add"), result("q", roots=[]))
    assert [message.get("method") for message in sent] == ["roots/list", None]


async def test_other_requests_are_errors_and_noted(trace: Trace) -> None:
    server = MockServer([trace])
    sent = await answers(
        server, request(1, "tools/call", name="sub"), request(2, "x/y"), b"{", request(3, "ping")
    )
    codes = {message["id"]: message.get("error", {}).get("code") for message in sent}
    assert codes == {1: -32602, 2: -32601, None: -32700, 3: None}
    assert server.unknown == ['tools/call {"name": "sub"}', "x/y"]


async def test_a_client_uses_a_recording_as_its_server() -> None:
    """Over HTTP, although it was recorded on another transport."""
    server = MockServer([await first_recording(reference(), HANDSHAKE[-1], **QUICK)])
    async with serve_http(server) as url, Client(url) as client:
        assert "roll_dice" in [tool.name for tool in await client.tools()]
        prompts = await client.prompts()
        assert prompts
    assert server.served >= 3


async def test_pages_of_other_sites_get_nothing(trace: Trace) -> None:
    body = json.dumps(request(1, "tools/list")).encode()
    async with serve_http(MockServer([trace])) as url:
        assert (await fetch("POST", url, {"Origin": "https://example.com"}, body)).status == 403
        assert (await fetch("POST", url, {"Host": "example.com"}, body)).status == 403
        assert (await fetch("POST", url.replace("/mcp", "/x"), {}, body)).status == 404
        assert (await fetch("POST", url, {}, b"{")).status == 400
        assert (await fetch("POST", url, {}, b'{"jsonrpc":"2.0","method":"notifications/x"}')).status == 202
        assert (await fetch("POST", url, {}, body)).status == 200


async def test_a_recording_on_http_is_repeated_byte_by_byte() -> None:
    """Heads, events without a message, and answers: only what a normaliser covers differs."""
    revision = HANDSHAKE[-1]
    conditions = Conditions(patience=5.0)
    facts = await facts_of(reference(), revision, **QUICK)
    async with on_assay(reference()().asgi()) as port:
        subject = UrlSubject(f"http://127.0.0.1:{port}/mcp")
        first = await record("replay", subject, revision, ask_everything, facts, conditions)
    async with serve_http(MockServer([first.trace])) as url:
        converse = Replayer(first.trace).converse
        again = await record("replay", UrlSubject(url), revision, converse, facts, conditions)
    comparison = compare(first.trace, again.trace)
    assert [str(each.difference) for each in comparison.divergences] == []
    assert comparison.matched > 30


async def test_a_line_without_end_is_refused(trace: Trace) -> None:
    class Endless:
        def read(self, size: int) -> bytes:
            return b"x" * size

    sink = io.BytesIO()
    await serve_streams(MockServer([trace]), Endless(), sink)
    assert json.loads(sink.getvalue())["error"]["code"] == -32700

"""Each normaliser excuses its differences; a saboteur for each shows that a real change still diverges."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pytest

from assay.certify.replay.comparison import Comparison, compare
from assay.certify.replay.profile_value import PROFILE_VALUES
from assay.lab.harness.golden.normaliser import (
    ADDRESS,
    BUILT_IN,
    ENDPOINT,
    LEFT_EARLY,
    LENGTH,
    MOMENTS,
    OMITTED,
    OPEN_STREAMS,
    ORDER,
    PIECES,
    QUESTIONS,
    RETURNS,
    SENTINELS,
    VALUES,
    Method,
    Volatile,
)
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from tests.lab.traces import http_trace, request, result, stdio_trace

PING = (">", request(1, "ping"))
PONG = ("<", result(1))


class Case(NamedTuple):
    before: Trace
    same: Trace
    """The same behaviour, with other values where the normaliser applies."""
    changed: Trace
    """A saboteur: a change of behaviour at the same place."""


def call(head: str = "", body: str = "{}", sent: str = "", port: int = 1) -> Trace:
    trace = http_trace(
        [
            (
                ">",
                "1/post-1",
                Kind.REQUEST,
                f"POST /mcp HTTP/1.1\r\nHost: localhost:{port}\r\n{sent}\r\n".encode(),
            ),
            ("<", "1/post-1", Kind.HEAD, f"HTTP/1.1 200 OK\r\n{head}\r\n".encode()),
            ("<", "1/post-1", Kind.BODY, body.encode()),
            ("<", "1/post-1", Kind.END, b""),
        ]
    )
    url = f"http://localhost:{port}/mcp"
    return Trace(msgspec.structs.replace(trace.header, subject=url), trace.frames)


def stream(*events: str, end: bool = True, content: str = "text/event-stream") -> Trace:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content}\r\n\r\n".encode()
    frames = [
        (">", "1/post-1", Kind.REQUEST, b"POST /mcp HTTP/1.1\r\nHost: localhost:1\r\n\r\n"),
        ("<", "1/post-1", Kind.HEAD, head),
        *(("<", "1/post-1", Kind.EVENT, event.encode()) for event in events),
        *([("<", "1/post-1", Kind.END, b"")] if end else []),
    ]
    return http_trace(frames)


def session(*ids: str) -> Trace:
    """The first id is assigned, the others are those of later responses."""
    return call("".join(f"Mcp-Session-Id: {each}\r\n" for each in ids))


def answer(**content: Any) -> Trace:
    return stdio_trace(PING, ("<", result(1, **content)))


def paging(first: str, second: str) -> Trace:
    return stdio_trace(
        (">", request(1, "tools/list")),
        ("<", result(1, tools=[], nextCursor=first)),
        (">", request(2, "resources/list")),
        ("<", result(2, resources=[], nextCursor=second)),
    )


def called(first: str, second: str) -> Trace:
    return stdio_trace(
        (">", request(1, "tools/call", name="x")),
        ("<", result(1, _meta={"dev.assay/effects": {"callId": first}})),
        (">", request(2, "tools/call", name="x")),
        ("<", result(2, _meta={"dev.assay/effects": {"callId": second}})),
    )


def recorded(*positions: tuple[int, str]) -> Trace:
    """Calls with their positions in a ledger."""
    return stdio_trace(
        *(
            line
            for number, (seq, entry) in enumerate(positions)
            for line in (
                (">", request(number, "tools/call", name="x")),
                (
                    "<",
                    result(number, _meta={"dev.assay/effects": {"ledger": {"seq": seq, "entryHash": entry}}}),
                ),
            )
        )
    )


def provenance(moment: Any) -> Trace:
    return answer(contents=[{"uri": "a:b", "_meta": {"dev.assay/provenance": {"asOf": moment}}}])


def question(first: Any, second: Any) -> Trace:
    return stdio_trace(
        (">", request(1, "tools/call", name="x")),
        ("<", request(first, "roots/list")),
        (">", result(first, roots=[])),
        ("<", request(second, "roots/list")),
        (">", result(second, roots=[])),
        ("<", result(1, content=[])),
    )


def endpoint(url: str, event: str = "endpoint") -> Trace:
    return stream(f"event: {event}\ndata: {url}\n\n")


def with_frames(trace: Trace, *frames: tuple[Sender, Kind, bytes, dict[str, Any]]) -> Trace:
    added = [
        Frame(len(trace.frames) + n, 1.0, sender, "1/lines", kind, raw, info)
        for n, (sender, kind, raw, info) in enumerate(frames)
    ]
    return Trace(trace.header, [*trace.frames, *added])


def shifted(trace: Trace, seconds: float) -> Trace:
    return Trace(
        trace.header, [msgspec.structs.replace(frame, t=frame.t + seconds) for frame in trace.frames]
    )


def two_answers(*order: int, text: str = "b") -> Trace:
    texts = {1: "a", 2: text}
    return stdio_trace(
        (">", request(1, "ping")),
        (">", request(2, "ping")),
        *(("<", result(number, text=texts[number])) for number in order),
    )


def cut(*texts: str, answered: bool = False) -> Trace:
    """The driver left before the answer to its sentinel, and may miss notifications."""
    sentinel = request("sentinel-1-1", "ping")
    return stdio_trace(
        PING,
        PONG,
        *(("<", {"jsonrpc": "2.0", "method": "notifications/x", "params": {"text": text}}) for text in texts),
        (">", sentinel),
        *([("<", result("sentinel-1-1"))] if answered else []),
    )


CASES: dict[str, Case] = {
    "session id": Case(session("a", "a"), session("b", "b"), session("a", "b")),
    "event id": Case(
        stream("id: 1\ndata: {}\n\n", "id: 2\ndata: {}\n\n"),
        stream("id: x\ndata: {}\n\n", "id: y\ndata: {}\n\n"),
        stream("id: 1\ndata: {}\n\n", "id: 1\ndata: {}\n\n"),
    ),
    "cursor": Case(paging("a", "b"), paging("x", "y"), paging("x", "x")),
    "request state": Case(
        answer(requestState="a", inputRequests={}),
        answer(requestState="b", inputRequests={}),
        answer(requestState=7, inputRequests={}),
    ),
    "task id": Case(
        answer(taskId="a", related={"taskId": "a"}),
        answer(taskId="b", related={"taskId": "b"}),
        answer(taskId="b", related={"taskId": "c"}),
    ),
    "elicitation id": Case(answer(elicitationId="a"), answer(elicitationId="b"), answer(elicitationId=None)),
    "time": Case(answer(createdAt="1"), answer(createdAt="2"), answer(createdAt=2)),
    "header of one exchange": Case(
        call("Date: Mon\r\n"), call("Date: Tue\r\n"), call("Date: Mon\r\nX-Other: 1\r\n")
    ),
    "id of a call": Case(called("a1", "a2"), called("b1", "b2"), called("b1", "b1")),
    "position in the ledger": Case(
        recorded((1, "a"), (2, "b")), recorded((5, "c"), (6, "d")), recorded((5, "c"), (5, "c"))
    ),
    "time of provenance": Case(provenance("1"), provenance("2"), provenance(2)),
    QUESTIONS.name: Case(question("a", "b"), question("x", "y"), question("x", "x")),
    ENDPOINT.name: Case(endpoint("/m?s=1"), endpoint("/m?s=2"), endpoint("/m?s=2", "message")),
    "standard error": Case(
        answer(),
        with_frames(answer(), (Sender.SUBJECT, Kind.ERRORS, b"warning", {})),
        with_frames(answer(), (Sender.SUBJECT, Kind.LINE, b"warning\n", {})),
    ),
    "keep-alive": Case(
        stream("data: {}\n\n"), stream(": hb\n\n", "data: {}\n\n"), stream("event: hb\n\n", "data: {}\n\n")
    ),
    "remarks on processes": Case(
        answer(),
        with_frames(answer(), (Sender.DRIVER, Kind.MARK, b"", {"label": "continued"})),
        with_frames(answer(), (Sender.SUBJECT, Kind.EXIT, b"", {"status": 1})),
    ),
    SENTINELS.name: Case(
        answer(),
        stdio_trace(PING, PONG, (">", request("sentinel-1-1", "ping")), ("<", result("sentinel-1-1"))),
        stdio_trace(
            PING,
            PONG,
            (">", request("sentinel-1-1", "ping")),
            ("<", result("sentinel-1-1")),
            ("<", result(2)),
        ),
    ),
    LEFT_EARLY.name: Case(cut("a", "b"), cut("a"), cut("c", answered=True)),
    ORDER.name: Case(two_answers(1, 2), two_answers(2, 1), two_answers(2, 1, text="c")),
    OPEN_STREAMS.name: Case(
        stream("data: 1\n\n", "data: 2\n\n"),
        stream("data: 1\n\n", end=False),
        stream("data: 3\n\n", end=False),
    ),
    PIECES.name: Case(
        stdio_trace(PING, PONG),
        stdio_trace(PING, ("<", b'{"jsonrpc": "2.0", '), ("<", b'"id": 1, "result": {}}\n')),
        stdio_trace(PING, ("<", b'{"jsonrpc": "2.0", '), ("<", b'"id": 1, "result": []}\n')),
    ),
    ADDRESS.name: Case(
        call(body='{"u":"http://localhost:1/x"}', port=1),
        call(body='{"u":"http://localhost:2/x"}', port=2),
        call(body='{"u":"http://localhost:1/x"}', port=2),
    ),
    LENGTH.name: Case(
        call("Mcp-Session-Id: a\r\nContent-Length: 2\r\n"),
        call("Mcp-Session-Id: bb\r\nContent-Length: 2\r\n"),
        call("Mcp-Session-Id: a\r\nContent-Length: 3\r\n"),
    ),
    MOMENTS.name: Case(answer(), shifted(answer(), 9.0), answer(late=True)),
}
"""For each normaliser by name."""


def test_every_normaliser_of_servers_has_a_saboteur() -> None:
    names = {rule.name for rule in (*VALUES, *PROFILE_VALUES, *OMITTED, *BUILT_IN, QUESTIONS, ENDPOINT)}
    assert names - {RETURNS.name} == CASES.keys()  # `later returns` is about clients under test


@pytest.mark.parametrize("name", CASES)
def test_what_may_differ_matches(name: str) -> None:
    case = CASES[name]
    comparison = compare(case.before, case.same)
    assert comparison.divergences == []
    assert comparison.matched == comparison.pairs > 0
    assert comparison.applied[name]


@pytest.mark.parametrize("name", CASES)
def test_a_real_change_diverges(name: str) -> None:
    case = CASES[name]
    comparison = compare(case.before, case.changed)
    assert comparison.divergences
    assert comparison.matched < comparison.pairs


def log(text: str) -> tuple[str, Any]:
    return "<", {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": text}}


def logged(*texts: str) -> Comparison:
    def trace(words: tuple[str, ...]) -> Trace:
        turns: list[tuple[str, Any]] = []
        for number, text in enumerate(words, 1):
            turns += [(">", request(number, "tools/call", name=f"t{number}")), log(text)]
            turns += [("<", result(number, content=[]))]
        return stdio_trace(*turns)

    return compare(trace(("a", "b", "c", "d")), trace(texts))


def test_every_changed_notification_counts_for_the_request_before_it() -> None:
    comparison = logged("a", "x", "c", "y")
    assert [each.fixture for each in comparison.divergences] == [
        "tools/call t2 (id 2)",
        "tools/call t4 (id 4)",
    ]
    assert [each.difference.at for each in comparison.divergences] == ["/params/data", "/params/data"]
    assert (comparison.pairs, comparison.matched) == (4, 2)


def test_a_notification_that_comes_later_is_no_divergence() -> None:
    first = stdio_trace(PING, log("a"), PONG, (">", request(2, "ping")), ("<", result(2)))
    later = stdio_trace(PING, PONG, (">", request(2, "ping")), log("a"), ("<", result(2)))
    assert compare(first, later).divergences == []


def test_the_path_and_both_values_are_shown() -> None:
    (divergence,) = compare(answer(a={"b": [1, 2]}), answer(a={"b": [1, 3]})).divergences
    difference = divergence.difference
    assert (difference.at, difference.before, difference.after) == ("/result/a/b/1", "2", "3")


def test_values_of_the_user_are_ignored() -> None:
    build = Volatile("build", "counts up", Method.IGNORE, pointers=("/result/build",))
    assert compare(answer(build=1), answer(build=2)).divergences
    assert compare(answer(build=1), answer(build=2), (build,)).divergences == []


def test_messages_that_are_nested_too_deeply_diverge() -> None:
    deep = stdio_trace(PING, ("<", b'{"id":1,"result":' + b"[" * 990 + b"]" * 990 + b"}\n"))
    other = stdio_trace(PING, ("<", b'{"id":1,"result":' + b"[" * 990 + b"1" + b"]" * 990 + b"}\n"))
    assert compare(deep, other).divergences


def test_many_notifications_are_compared_by_position() -> None:
    many = [log(str(number)) for number in range(2100)]
    before = stdio_trace(PING, *many, PONG)
    after = stdio_trace(PING, *many[:5], log("x"), *many[6:], PONG)
    (divergence,) = compare(before, after).divergences
    assert divergence.difference.at == "/params/data"

"""Requests at once: each has its own answer on its own stream."""

from assay.lab.harness.trace.trace import Trace
from tests.lab.everything.observing import broken, held
from tests.lab.everything.talking import over_http

CHECK = "server-sse-multiple-streams"
ACCEPTED, FUNCTIONAL = "server-accepts-multiple-post-streams", "server-sse-streams-functional"
STREAM = "200 OK\nContent-Type: text/event-stream"


def answer(number: int) -> bytes:
    return b'data: {"jsonrpc":"2.0","id":%d,"result":{"tools":[]}}\n\n' % number


def asked(number: int, head: str, said: bytes) -> tuple[str, bytes, str, bytes]:
    body = b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}' % number
    return "POST /mcp HTTP/1.1\nHost: a", body, head, said


def two(*said: bytes) -> Trace:
    return over_http(*(asked(number, STREAM, one) for number, one in enumerate(said)))


def test_each_stream_carries_its_own_answer() -> None:
    assert held(CHECK, two(answer(0), answer(1))) == {ACCEPTED, FUNCTIONAL}


def test_stream_with_the_answer_to_another_is_found() -> None:
    assert broken(CHECK, two(answer(0) + answer(1), answer(1))) == {FUNCTIONAL}


def test_stream_without_its_answer_is_found() -> None:
    assert broken(CHECK, two(answer(0), b": nothing\n\n")) == {FUNCTIONAL}


def test_request_that_is_refused_while_another_runs_is_found() -> None:
    trace = over_http(asked(0, STREAM, answer(0)), asked(1, "429 Busy", b""))
    assert broken(CHECK, trace) == {ACCEPTED}


def test_empty_results_show_nothing() -> None:
    empty = b'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'
    assert broken(CHECK, two(answer(0), empty)) == {ACCEPTED}

"""Checks of SIGTERM on traces written by hand."""

from typing import Any

import pytest

from assay.lab.harness.links.http_text import EVENT_STREAM, JSON
from assay.lab.harness.links.stdio import STILL_RUNNING, TERMINATED
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE
from tests.lab.suite.judging import seen

EXIT, CUT_OFF = "robustness.exit", "robustness.cut-off"
TERMINATION = (Sender.DRIVER, "separate/process", Kind.MARK, b"", {"label": TERMINATED})
CALL = b'POST /mcp HTTP/1.1\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"tools/call"}'
Part = tuple[Sender, str, Kind, bytes, dict[str, Any]]
REQUEST: Part = (Sender.DRIVER, "1/post-1", Kind.REQUEST, CALL, {})


def trace_of(*parts: Part) -> Trace:
    header = Header(HANDSHAKE[-1].date, "http", "by hand", "by-hand", closed=True)
    return Trace(header, [Frame(n, n / 1000, *part) for n, part in enumerate(parts)])


def response(status: int, media_type: str, *, body: bytes = b"", clean: bool = True) -> list[Part]:
    head = f"HTTP/1.1 {status} Status\r\nContent-Type: {media_type}\r\n\r\n".encode()
    kind = Kind.EVENT if media_type == EVENT_STREAM else Kind.BODY
    parts = [(Kind.HEAD, head, {}), *([(kind, body, {})] if body else []), (Kind.END, b"", {"clean": clean})]
    return [(Sender.SUBJECT, "1/post-1", kind, raw, info) for kind, raw, info in parts]


def test_process_that_exits_after_sigterm_passes() -> None:
    exit_frame = (Sender.SUBJECT, "separate/process", Kind.EXIT, b"", {"status": 0})
    assert seen(EXIT, trace_of(TERMINATION, exit_frame)) == [("ROBUST-03", True)]


def test_process_that_keeps_running_after_sigterm_is_reported() -> None:
    info = {"label": STILL_RUNNING, "waited": 5.0}
    running = (Sender.DRIVER, "separate/process", Kind.MARK, b"", info)
    assert seen(EXIT, trace_of(TERMINATION, running)) == [("ROBUST-03", False)]


def test_exit_of_another_process_proves_nothing() -> None:
    other = (Sender.SUBJECT, "2/lines", Kind.EXIT, b"", {"status": 0})
    assert seen(EXIT, trace_of(TERMINATION, other)) == []


@pytest.mark.parametrize(
    ("parts", "holds"),
    [
        (response(200, JSON), False),
        (response(200, EVENT_STREAM), False),
        (response(200, JSON, body=b'{"jsonrpc":"2.0","id":1,"result":{}}'), True),
        (response(200, EVENT_STREAM, body=b": shutting down\n\n"), True),
        (response(200, JSON, clean=False), True),
        (response(503, JSON), True),
        ([(Sender.SUBJECT, "1/post-1", Kind.END, b"", {"clean": False})], True),
    ],
)
def test_request_in_progress_gets_no_empty_success(parts: list[Part], holds: bool) -> None:
    assert seen(CUT_OFF, trace_of(REQUEST, TERMINATION, *parts)) == [("ROBUST-04", holds)]


def test_response_before_sigterm_is_not_judged() -> None:
    assert seen(CUT_OFF, trace_of(REQUEST, *response(200, JSON), TERMINATION)) == []

"""Checks of very large openings on traces written by hand."""

from typing import Any

import msgspec
import pytest

from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.suite.later_request import NOT_SERVED
from assay.lab.suite.robustness.large_opening import SIZE
from assay.revisions.registry import HANDSHAKE
from tests.lab.suite.conversation import Said, conversation
from tests.lab.suite.judging import seen
from tests.lab.traces import request, result, stdio_trace

LARGE = request(1, "initialize", clientInfo={"name": "a" * SIZE})
ANSWERED, AFTER = "robustness.large-opening", "robustness.after-large-opening"
REVISION = HANDSHAKE[-1]
Part = tuple[Sender, str, Kind, bytes, dict[str, Any]]


def with_frames(trace: Trace, *frames: Part) -> Trace:
    """The trace with further frames."""
    begin = len(trace.frames)
    more = [Frame(begin + n, 9.0, *frame) for n, frame in enumerate(frames)]
    return Trace(trace.header, [*trace.frames, *more])


def on_websocket(*frames: Part) -> Trace:
    header = msgspec.structs.replace(stdio_trace().header, transport="ws")
    opening: Part = (Sender.DRIVER, "1/ws", Kind.TEXT, msgspec.json.encode(LARGE), {})
    return with_frames(Trace(header, []), opening, *frames)


@pytest.mark.parametrize("answer", [result(1), {"jsonrpc": "2.0", "id": 1, "error": {"code": -32600}}])
def test_large_opening_may_be_answered_or_refused(answer: dict[str, Any]) -> None:
    assert seen(ANSWERED, stdio_trace((">", LARGE), ("<", answer))) == [("ROBUST-01", True)]


@pytest.mark.parametrize(
    ("kind", "info", "holds"),
    [
        (Kind.EXIT, {"status": 1}, False),
        (Kind.MARK, {"label": "no answer", "id": 1, "waited": 10.0}, False),
        (Kind.MARK, {"label": "no answer", "id": 7, "waited": 10.0}, None),
    ],
)
def test_large_opening_is_not_ignored(kind: Kind, info: dict[str, Any], holds: bool | None) -> None:
    trace = with_frames(stdio_trace((">", LARGE)), (Sender.SUBJECT, "1/lines", kind, b"", info))
    assert seen(ANSWERED, trace) == ([] if holds is None else [("ROBUST-01", holds)])


@pytest.mark.parametrize(
    ("status", "observed"),
    [(413, [("ROBUST-01", True)]), (431, [("ROBUST-01", True)]), (202, [("ROBUST-01", False)])],
)
def test_http_status_refuses_a_large_opening(status: int, observed: list[tuple[str, bool]]) -> None:
    assert seen(ANSWERED, conversation(REVISION, Said(LARGE, status))) == observed


def test_connection_that_breaks_off_on_http_proves_nothing() -> None:
    trace = conversation(REVISION, Said(LARGE))
    begin = trace.frames[0]
    end = Frame(1, 0.1, Sender.SUBJECT, begin.channel, Kind.END, b"", {"clean": False})
    assert seen(ANSWERED, Trace(trace.header, [begin, end])) == []


@pytest.mark.parametrize(("code", "holds"), [(1009, True), (1008, True), (1011, False)])
def test_websocket_is_closed_with_a_code_for_large_messages(code: int, holds: bool) -> None:
    close = (Sender.SUBJECT, "1/ws", Kind.CONTROL, code.to_bytes(2, "big"), {"what": "close"})
    end = (Sender.SUBJECT, "1/ws", Kind.END, b"", {"clean": True})
    assert seen(ANSWERED, on_websocket(close, end)) == [("ROBUST-01", holds)]


def test_client_that_was_refused_need_not_be_served_further() -> None:
    refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": "too large"}}
    again = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32600, "message": "not initialized"}}
    turns = ((">", LARGE), ("<", refused), (">", request(2, "ping")), ("<", again))
    assert seen(AFTER, stdio_trace(*turns)) == []


@pytest.mark.parametrize(
    ("turn", "observed"),
    [
        (Said(request(2, "ping"), 200, result(2)), [("ROBUST-02", True)]),
        (Said(request(2, "ping"), 500), [("ROBUST-02", False)]),
        (Said(request(2, "ping"), 503), []),
        (Said(request(2, "ping"), 404, headers={"Mcp-Session-Id": "ended"}), []),
        (Said(request(2, "ping"), 200, [], over=False), []),
    ],
)
def test_later_requests_are_served_unless_the_server_is_busy_or_the_session_has_ended(
    turn: Said, observed: list[tuple[str, bool]]
) -> None:
    assert seen(AFTER, conversation(REVISION, Said(LARGE, 200, result(1)), turn)) == observed


def test_server_that_accepts_no_conversation_afterwards_is_reported() -> None:
    mark = (Sender.DRIVER, "beside/notes", Kind.MARK, b"", {"label": NOT_SERVED, "reason": "gone"})
    trace = with_frames(conversation(REVISION, Said(LARGE, 200, result(1))), mark)
    assert seen(AFTER, trace) == [("ROBUST-02", False)]

"""Checks of listen streams on traces written by hand."""

from typing import Any

import pytest

from assay.lab.harness.driver.list_change import LISTS, UPDATED
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import NOT_RECEIVED, Trace
from assay.lab.suite.subscription import ACKNOWLEDGED, LISTEN
from assay.revisions.registry import PER_REQUEST
from tests.lab.suite.judging import seen
from tests.lab.traces import http_trace, request, result, stdio_trace

NEW = PER_REQUEST[-1]
TOOLS, RESOURCES = LISTS["tools"][0], LISTS["resources"][0]
WISH = {"toolsListChanged": True, "resourceSubscriptions": ["a:1"]}
ASKED = (">", request(7, LISTEN, notifications=WISH))


def notice(method: str, number: Any = 7, **params: Any) -> tuple[str, Any]:
    meta = {} if number is None else {"_meta": {SUBSCRIPTION_KEY: number}}
    return "<", {"jsonrpc": "2.0", "method": method, "params": {**meta, **params}}


def granted(**notifications: Any) -> tuple[str, Any]:
    return notice(ACKNOWLEDGED, notifications=notifications)


def told(*turns: tuple[str, Any]) -> Trace:
    return stdio_trace(ASKED, *turns, revision=NEW)


def broken(check: str, trace: Trace) -> set[str]:
    return {row for row, holds in seen(check, trace) if not holds}


@pytest.mark.parametrize(
    ("turns", "rows"),
    [
        ([granted(**WISH)], set()),
        ([granted()], set()),
        ([granted(toolsListChanged=False, promptsListChanged=False)], set()),
        ([granted(promptsListChanged=True)], {"SUB-04"}),
        ([granted(resourceSubscriptions=["a:1", "a:2"])], {"SUB-04"}),
        ([notice(TOOLS), granted()], {"SUB-02", "SUB-03"}),
        ([notice(TOOLS)], {"SUB-02"}),
        ([("<", result(7, resultType="complete"))], {"SUB-02"}),
        ([("<", {"jsonrpc": "2.0", "id": 7, "error": {"code": -32601, "message": ""}})], set()),
        ([notice(TOOLS, 8), granted()], set()),
        ([], set()),
    ],
)
def test_acknowledged(turns: Any, rows: set[str]) -> None:
    assert broken("stateless.acknowledged", told(*turns)) == rows


def test_an_acknowledgement_that_was_waited_for_in_vain() -> None:
    trace = told()
    info = {"label": NOT_RECEIVED, "method": ACKNOWLEDGED, "waited": 10}
    waited = Trace(
        trace.header, [*trace.frames, Frame(1, 0.0, Sender.DRIVER, "1/marks", Kind.MARK, info=info)]
    )
    assert seen("stateless.acknowledged", waited) == [("SUB-02", False)]


@pytest.mark.parametrize(("capabilities", "holds"), [({"tools": {}}, True), ({"prompts": {}}, False)])
def test_what_is_not_declared_is_not_granted(capabilities: Any, holds: bool) -> None:
    discovered = ((">", request(1, "server/discover")), ("<", result(1, capabilities=capabilities)))
    found = seen("stateless.acknowledged", told(*discovered, granted(toolsListChanged=True)))
    assert ("SUB-04", holds) in found


@pytest.mark.parametrize(
    ("turns", "rows"),
    [
        ([granted(), notice(TOOLS), notice(UPDATED, uri="a:1"), notice(UPDATED, uri="a:1/sub")], set()),
        ([granted(), notice(RESOURCES)], {"SUB-01"}),
        ([granted(), notice(UPDATED, uri="b:1")], {"SUB-01"}),
        ([granted(), notice(TOOLS, None)], {"SUB-05"}),
        ([granted(), notice(TOOLS, "7")], {"SUB-05"}),
        ([granted(), notice("notifications/message", level="info", data="x")], {"SUB-10"}),
        ([granted(), notice("notifications/message", None, level="info", data="x")], set()),
        ([granted(), ("<", result(7, resultType="complete", _meta={SUBSCRIPTION_KEY: 7}))], set()),
        ([granted(), ("<", result(7, resultType="complete"))], {"SUB-08"}),
        ([granted(), ("<", result(7, _meta={SUBSCRIPTION_KEY: 7}))], {"SUB-08"}),
    ],
)
def test_listen_stream(turns: Any, rows: set[str]) -> None:
    assert broken("stateless.listen-stream", told(*turns)) == rows


def test_unasked_notifications_of_a_handshake_are_another_matter() -> None:
    greeted = ((">", request(1, "initialize")), ("<", result(1)))
    assert not seen("stateless.listen-stream", stdio_trace(*greeted, notice(TOOLS, None), revision=NEW))


@pytest.mark.parametrize(("clean", "rows"), [(True, {"SUB-08"}), (False, set())])
def test_a_stream_that_ends_without_a_word(clean: bool, rows: set[str]) -> None:
    body = stdio_trace(ASKED).frames[0].raw
    event = b"data: " + stdio_trace(granted()).frames[0].raw + b"\n"
    trace = http_trace(
        [
            (">", "1/post-1", Kind.REQUEST, b"POST /mcp HTTP/1.1\r\n\r\n" + body),
            ("<", "1/post-1", Kind.HEAD, b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
            ("<", "1/post-1", Kind.EVENT, event),
        ],
        NEW,
    )
    end = Frame(3, 0.0, Sender.SUBJECT, "1/post-1", Kind.END, info={"clean": clean})
    assert broken("stateless.listen-stream", Trace(trace.header, [*trace.frames, end])) == rows

"""Checks of framing on traces written by hand."""

import json
from typing import Any

import pytest

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.lab.suite.judging import seen
from tests.lab.traces import probed, request, result, stdio_trace

HELD, BROKEN = True, False
PRETTY = json.dumps(result(1, text="x", items=[1, 2]), indent=2).encode() + b"\n"
WHOLE = json.dumps(result(2)).encode() + b"\n"


def lines(*raw: bytes) -> Trace:
    return stdio_trace(*(("<", one) for one in b"".join(raw).splitlines(keepends=True)))


@pytest.mark.parametrize(
    ("trace", "verdicts"),
    [
        (lines(WHOLE, WHOLE), [HELD, HELD]),
        (lines(WHOLE, PRETTY, WHOLE), [HELD, BROKEN, HELD]),
        (lines(b'{"jsonrpc":"2.0","id":"two\n', b'lines","result":{}}\n', WHOLE), [BROKEN, HELD]),
        (lines(b"Server started.\n", WHOLE), [HELD]),
        (lines(b"{ starting\n", b"up }\n", WHOLE), [HELD]),
        (lines(b'{"cut": \n', WHOLE), [HELD]),
        (lines(PRETTY[:20]), []),
    ],
)
def test_a_message_over_several_lines_is_told_from_rubbish(trace: Trace, verdicts: list[bool]) -> None:
    assert seen("framing.whole-lines", trace) == [("STD-01", verdict) for verdict in verdicts]


@pytest.mark.parametrize(
    ("raw", "verdicts"),
    [
        ([WHOLE], [HELD]),
        ([WHOLE.replace(b"\n", b"\r\n")], [HELD]),
        ([b"\n"], [BROKEN]),
        ([b"42\n"], [BROKEN]),
        ([b"[]\n"], [BROKEN]),
        ([WHOLE[:-1] + WHOLE], [BROKEN]),
        ([WHOLE, b"Goodbye"], [HELD, BROKEN]),
        ([WHOLE, WHOLE[:-1]], [HELD]),
    ],
)
def test_only_messages_belong_on_standard_output(raw: list[bytes], verdicts: list[bool]) -> None:
    trace = stdio_trace(*(("<", one) for one in raw))
    assert seen("framing.pure-stdout", trace) == [("STD-02", verdict) for verdict in verdicts]


def test_requests_are_told_where_servers_have_none() -> None:
    turns = (("<", request("a", "ping")), ("<", result(1)))
    assert seen("framing.no-requests", stdio_trace(*turns, revision=PER_REQUEST[-1])) == [
        ("STD-07", BROKEN),
        ("STD-07", HELD),
    ]
    assert not seen("framing.no-requests", stdio_trace(*turns, revision=HANDSHAKE[-1]))


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (result(2), HELD),
        (result(1), BROKEN),
        (result("1"), HELD),
        ({"jsonrpc": "2.0", "method": "notifications/x", "params": {"_meta": {SUBSCRIPTION_KEY: 1}}}, BROKEN),
        ({"jsonrpc": "2.0", "method": "notifications/x", "params": {"_meta": {SUBSCRIPTION_KEY: 2}}}, HELD),
        ({"jsonrpc": "2.0", "method": "notifications/x", "params": {"_meta": []}}, HELD),
    ],
)
def test_a_cancelled_request_is_not_spoken_of(said: Any, verdict: bool) -> None:
    trace = probed(stdio_trace(("<", said), revision=PER_REQUEST[-1]), "cancelled", id=1)
    assert seen("framing.cancelled-silence", trace) == [("STD-10", verdict)]


def ended(*after: Frame) -> Trace:
    end = Frame(0, 0.0, Sender.DRIVER, "1/lines", Kind.END)
    return Trace(Header(PER_REQUEST[-1].date, "stdio", "by hand", "by-hand", closed=True), [end, *after])


@pytest.mark.parametrize(
    ("after", "verdicts"),
    [
        ([Frame(1, 0.1, Sender.SUBJECT, "1/lines", Kind.EXIT, info={"status": 0})], [HELD]),
        ([Frame(1, 0.1, Sender.SUBJECT, "1/lines", Kind.EXIT, info={"status": 1})], [HELD]),
        ([Frame(1, 5.0, Sender.DRIVER, "1/marks", Kind.MARK, info={"label": "still running"})], [BROKEN]),
        ([Frame(1, 0.1, Sender.SUBJECT, "2/lines", Kind.EXIT, info={"status": 0})], []),
        ([], []),
    ],
)
def test_a_process_ends_with_its_input_or_was_waited_for(after: list[Frame], verdicts: list[bool]) -> None:
    assert seen("framing.ends-with-input", ended(*after)) == [("STD-12", verdict) for verdict in verdicts]

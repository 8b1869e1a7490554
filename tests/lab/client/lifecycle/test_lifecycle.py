"""Checks of the handshake of clients on traces written by hand."""

import json
from typing import Any

import pytest

from assay.lab.harness.trace.frame import Kind
from tests.lab.client.judging import ENDED, INITIALIZE, META, OLD, READY, WELCOME, trace_of, verdicts
from tests.lab.traces import http_trace, request, result, stdio_trace

OPENING = "lifecycle.opening"
LIST = request(1, "tools/list")
PROBE = request("p", "server/discover", _meta=META)
PROBED = {"jsonrpc": "2.0", "id": "p", "error": {"code": -32601, "message": "no such method"}}


def test_a_probe_for_a_newer_revision_may_come_before_the_handshake() -> None:
    probed = stdio_trace(("<", PROBE), (">", PROBED), ("<", INITIALIZE), (">", WELCOME), ("<", READY))
    assert verdicts(OPENING, "LIFE-01", probed) == [True]


def test_a_ping_may_come_before_the_answer() -> None:
    pinged = stdio_trace(("<", INITIALIZE), ("<", request(9, "ping")), (">", WELCOME), ("<", READY))
    assert verdicts(OPENING, "LIFE-05", pinged) == [True]


@pytest.mark.parametrize(
    ("said", "expected"), [([READY, LIST], [True]), ([LIST], [False]), ([], [])], ids=["ready", "not", "gone"]
)
def test_a_client_that_goes_on_is_ready_first(said: list[Any], expected: list[bool]) -> None:
    turns = [("<", INITIALIZE), (">", WELCOME), *(("<", one) for one in said)]
    assert verdicts(OPENING, "LIFE-04", stdio_trace(*turns)) == expected


def test_each_process_is_greeted_anew() -> None:
    first = stdio_trace(("<", INITIALIZE), (">", WELCOME), ("<", READY)).frames
    second = [_on("2/lines", one) for one in stdio_trace(("<", LIST)).frames]
    assert verdicts(OPENING, "LIFE-01", trace_of(*first, *second)) == [True, False]


def _on(channel: str, frame: Any) -> Any:
    return type(frame)(frame.n, frame.t, frame.sender, channel, frame.kind, frame.raw, frame.info)


@pytest.mark.parametrize(("said", "holds"), [([], True), ([READY], False), ([LIST], False)])
def test_nothing_is_said_in_a_version_that_nobody_speaks(said: list[Any], holds: bool) -> None:
    strange = result(0, protocolVersion="1900-01-01", capabilities={}, serverInfo={})
    turns = [("<", INITIALIZE), (">", strange), *(("<", one) for one in said)]
    ended = trace_of(*stdio_trace(*turns).frames, ENDED)
    assert verdicts("lifecycle.unknown-version", "LIFE-12", ended) == [holds]


@pytest.mark.parametrize(
    ("method", "holds"), [("tools/list", True), ("prompts/list", False), ("logging/setLevel", False)]
)
def test_only_what_the_server_declared_is_asked_for(method: str, holds: bool) -> None:
    asked = stdio_trace(
        ("<", INITIALIZE), (">", WELCOME), ("<", READY), ("<", request(2, method)), revision=OLD
    )
    assert verdicts("lifecycle.negotiated-only", "LIFE-14", asked) == [holds]


def test_two_conversations_over_http_are_not_taken_for_one() -> None:
    def said(number: int, message: Any) -> tuple[str, str, Kind, bytes]:
        return (
            "<",
            f"1/post-{number}",
            Kind.REQUEST,
            b"POST /mcp HTTP/1.1\r\n\r\n" + json.dumps(message).encode(),
        )

    def told(number: int, message: Any) -> list[tuple[str, str, Kind, bytes]]:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
        place = f"1/post-{number}"
        return [(">", place, Kind.HEAD, head), (">", place, Kind.BODY, json.dumps(message).encode())]

    other, welcome = {**INITIALIZE, "id": 7}, {**WELCOME, "id": 7}
    begun = [said(1, INITIALIZE), *told(1, WELCOME), said(2, other)]
    trace = http_trace([*begun, said(3, READY), said(4, LIST), *told(2, welcome)])
    hurried = http_trace([said(1, INITIALIZE), said(2, LIST), *told(1, WELCOME)])
    assert verdicts(OPENING, "LIFE-05", trace) == [True]
    assert verdicts(OPENING, "LIFE-05", hurried) == [False]

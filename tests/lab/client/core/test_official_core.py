"""Checks of the official scenarios of clients, on traces by hand: what they forgive, and what they do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.lab.client.core.headers import ALL_VALUES, CUSTOM_CALLS
from assay.lab.client.core.json_schema import ECHO, SCHEMA
from assay.lab.client.core.sse_retry import LAST_EVENT, TOOL
from assay.lab.harness.driver.message_meta import as_header
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision
from tests.lab.traces import http_trace, request, result, stdio_trace

SUITE = suite_named("client")
STEPS = Path(__file__).parents[4] / "interop" / "peers" / "client_steps.json"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
ANSWERED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"


def broken(check: str, trace: Trace) -> set[str]:
    """The rows that it finds broken."""
    return {one.requirement for one in SUITE.checks[check].judge(trace) if not one.holds}


def held(check: str, trace: Trace) -> set[str]:
    seen = list(SUITE.checks[check].judge(trace))
    return {one.requirement for one in seen} - {one.requirement for one in seen if not one.holds}


# -- what clients are told -----------------------------------------------------------------------------------


def test_scripted_clients_know_the_same_steps_by_name() -> None:
    known = json.loads(STEPS.read_text("utf-8"))
    told = {
        one.official: one.script.context for one in SUITE.scenarios.values() if one.official and one.script
    }
    assert told == {name: known.get(name) for name in told}


# -- what is owed --------------------------------------------------------------------------------------------


def test_a_client_that_never_came_owes_nothing() -> None:
    assert broken("tools_call", stdio_trace()) == held("tools_call", stdio_trace()) == set()


def test_a_client_that_came_and_called_nothing_is_at_fault() -> None:
    assert broken("tools_call", stdio_trace(("<", request(1, "tools/list")))) == {"tool-add-numbers"}


# -- the handshake -------------------------------------------------------------------------------------------


def handshake(version: Any, *more: tuple[str, Any], revision: Revision) -> Trace:
    offer = request(
        1,
        "initialize",
        protocolVersion=version,
        capabilities={},
        clientInfo={"name": "by hand", "version": "1"},
    )
    answer = result(1, protocolVersion=revision.date, capabilities={}, serverInfo={})
    return stdio_trace(("<", offer), (">", answer), *more, revision=revision)


DONE = ("<", {"jsonrpc": "2.0", "method": "notifications/initialized"})


def test_a_later_revision_may_be_offered_than_the_one_asked_for() -> None:
    assert not broken("initialize", handshake(HANDSHAKE[-1].date, DONE, revision=HANDSHAKE[-2]))


@pytest.mark.parametrize("version", [HANDSHAKE[-2].date, "9999-01-01", None, {}])
def test_an_older_or_unknown_revision_may_not_be_offered(version: Any) -> None:
    assert broken("initialize", handshake(version, DONE, revision=HANDSHAKE[-1]))


def test_a_handshake_is_not_done_before_that_is_said() -> None:
    assert broken("initialize", handshake(HANDSHAKE[-1].date, revision=HANDSHAKE[-1]))


# -- streams that end early ----------------------------------------------------------------------------------


def ended_stream(*gets: tuple[float, str | None]) -> Trace:
    """A call whose stream ends at second 1, and GETs with the events that they name."""
    body = json.dumps(request(1, "tools/call", name=TOOL)).encode()
    frames = [
        Frame(0, 0.9, Sender.SUBJECT, "1/post-1", Kind.REQUEST, b"POST / HTTP/1.1\r\n\r\n" + body),
        Frame(1, 0.9, Sender.DRIVER, "1/post-1", Kind.HEAD, EVENTS),
        Frame(2, 1.0, Sender.DRIVER, "1/post-1", Kind.END, info={"clean": True}),
    ]
    for place, (at, event) in enumerate(gets, 1):
        header = f"Last-Event-ID: {event}\r\n" if event else ""
        raw = f"GET / HTTP/1.1\r\n{header}\r\n".encode()
        frames.append(Frame(2 + place, at, Sender.SUBJECT, f"1/get-{place}", Kind.REQUEST, raw))
    return Trace(Header(HANDSHAKE[-1].date, "http", "by hand", "sse-retry", closed=True), frames)


RETURN, TIMING, EVENT = "client-sse-graceful-reconnect", "client-sse-retry-timing", "client-sse-last-event-id"


def test_a_client_may_come_back_a_little_early_or_much_too_late() -> None:
    for at in (1.46, 1.5, 7.0):
        assert held("sse-retry", ended_stream((at, LAST_EVENT))) == {RETURN, TIMING, EVENT}


def test_a_client_may_not_come_back_at_once() -> None:
    assert broken("sse-retry", ended_stream((1.44, LAST_EVENT))) == {TIMING}


def test_a_stream_for_other_things_is_not_taken_for_the_return() -> None:
    assert not broken("sse-retry", ended_stream((1.01, None), (1.5, LAST_EVENT), (1.6, "answer-1")))


def test_a_client_that_returns_without_a_word_is_found_out() -> None:
    assert broken("sse-retry", ended_stream((1.5, None))) == {EVENT}


def test_a_client_that_stays_away_is_judged_by_that_alone() -> None:
    assert broken("sse-retry", ended_stream()) == {RETURN}


# -- headers of arguments ------------------------------------------------------------------------------------


def called(arguments: dict[str, Any], headers: dict[str, str]) -> Trace:
    body = json.dumps(request(1, "tools/call", name=ALL_VALUES, arguments=arguments)).encode()
    lines = "".join(f"Mcp-Param-{name}: {value}\r\n" for name, value in headers.items())
    sent = f"POST / HTTP/1.1\r\n{lines}\r\n".encode() + body
    frames = [("<", "1/post-1", Kind.REQUEST, sent), (">", "1/post-1", Kind.HEAD, ANSWERED)]
    return http_trace(frames, PER_REQUEST[-1])


ENCODED, UNSAFE = "sep-2243-client-encode-values", "sep-2243-client-base64-unsafe"


def test_numbers_in_headers_are_compared_as_numbers() -> None:
    for text in ("42", "42.0"):
        assert ENCODED in held("http-custom-headers", called({"priority": 42}, {"Priority": text}))
    for text in ("43", "4e1", "forty-two", ""):
        assert ENCODED in broken("http-custom-headers", called({"priority": 42}, {"Priority": text}))


def test_safe_values_may_be_in_base64_and_unsafe_ones_must() -> None:
    coded = {"Region": "=?base64?dXMtd2VzdDE=?=", "Tab": as_header(CUSTOM_CALLS[ALL_VALUES]["tab_val"])}
    given = {"region": "us-west1", "tab_val": CUSTOM_CALLS[ALL_VALUES]["tab_val"]}
    assert UNSAFE in held("http-custom-headers", called(given, coded))
    assert "sep-2243-client-mirrors-designated-params" in held("http-custom-headers", called(given, coded))
    assert UNSAFE in broken("http-custom-headers", called(given, {**coded, "Tab": "indented"}))


# -- schemas -------------------------------------------------------------------------------------------------

CLOSED, DEFINED = (
    f"json-schema-2020-12-client-{name}-preserved" for name in ("additionalProperties", "$defs")
)


def echoed(schema: Any) -> Trace:
    return stdio_trace(("<", request(1, "tools/call", name=ECHO, arguments={"schema": schema})))


def test_false_in_a_schema_is_not_zero() -> None:
    assert CLOSED in broken("json-schema-2020-12-preservation", echoed({**SCHEMA, "additionalProperties": 0}))


def test_order_in_a_schema_does_not_matter() -> None:
    turned = dict(reversed(SCHEMA.items()))
    assert {CLOSED, DEFINED} <= held("json-schema-2020-12-preservation", echoed(turned))

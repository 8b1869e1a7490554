"""Checks of clients that meet hostile servers, on traces written by hand."""

import json
from typing import Any

import pytest

from assay.lab.client.evidence import AFTER
from assay.lab.client.hostile.hostile_server import TAKING
from assay.lab.client.hostile.lists import MOST_SAME, SAME
from assay.lab.client.hostile.messages import AGAIN, EARLY, GARBAGE, STRAY, TRUE
from assay.lab.client.hostile.responses import KINDS, MOST
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from tests.lab.client.judging import ENDED, trace_of, verdicts
from tests.lab.traces import SENDERS, request, result

FIRST_KIND, SECOND_KIND = list(GARBAGE)[:2]
FAILED = Frame(0, 0.0, Sender.SUBJECT, "client/process", Kind.EXIT, info={"status": 1})


def line(message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def said(who: str, message: Any) -> Frame:
    return Frame(0, 0.0, SENDERS[who], "1/lines", Kind.LINE, line(message))


def called(number: int, tool: str, **arguments: Any) -> list[Frame]:
    """A call, and its answer."""
    asked = request(number, "tools/call", name=tool, arguments=arguments)
    return [said("<", asked), said(">", result(number, content=[]))]


def given_up(number: int) -> Frame:
    return said("<", {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})


@pytest.mark.parametrize(
    ("title", "nobody", "twice"),
    [(TRUE, True, True), (STRAY, False, True), (EARLY, False, True), (AGAIN, True, False)],
)
def test_the_schema_that_comes_back_tells_which_answer_was_believed(
    title: str, nobody: bool, twice: bool
) -> None:
    trace = trace_of(*called(1, TAKING, schema={"type": "object", "title": title}), ENDED)
    assert verdicts("hostile.stray-answers", "HOSTILE-01", trace) == [nobody]
    assert verdicts("hostile.stray-answers", "HOSTILE-02", trace) == [twice]


def test_a_client_that_calls_on_after_rubbish_is_well() -> None:
    trace = trace_of(*called(1, FIRST_KIND), *called(2, SECOND_KIND), *called(3, AFTER), ENDED)
    assert verdicts("hostile.rubbish", "HOSTILE-04", trace) == [True, True, True]


def test_only_the_first_that_broke_the_client_is_held_against_it() -> None:
    deaf = (*called(1, FIRST_KIND), given_up(1), *called(2, SECOND_KIND), given_up(2), *called(3, AFTER))
    assert verdicts("hostile.rubbish", "HOSTILE-04", trace_of(*deaf, FAILED)) == [False]


def test_a_client_that_is_deaf_at_the_last_call_is_found_by_its_end() -> None:
    trace = trace_of(*called(1, FIRST_KIND), *called(2, AFTER), FAILED)
    assert verdicts("hostile.rubbish", "HOSTILE-04", trace) == [True, False]


def test_nothing_is_said_of_a_client_that_may_still_go_on() -> None:
    assert not verdicts("hostile.rubbish", "HOSTILE-04", trace_of(*called(1, FIRST_KIND)))


@pytest.mark.parametrize(("times", "holds"), [(1, True), (MOST, True), (MOST + 1, False)])
def test_a_call_that_fails_may_be_made_again_but_not_for_ever(times: int, holds: bool) -> None:
    kind = next(iter(KINDS))
    calls = [frame for number in range(times) for frame in called(number, kind)]
    trace = trace_of(*calls, *called(times, AFTER), ENDED)
    assert verdicts("hostile.bad-responses", "HOSTILE-07", trace) == [holds]


@pytest.mark.parametrize(("times", "holds"), [(1, True), (MOST_SAME, False)])
def test_a_cursor_that_comes_again_is_followed_so_often_only(times: int, holds: bool) -> None:
    pages = [
        frame
        for number in range(times + 1)
        for frame in (
            said("<", request(number, "tools/list", **({"cursor": SAME} if number else {}))),
            said(">", result(number, tools=[], nextCursor=SAME)),
        )
    ]
    assert verdicts("hostile.endless-lists", "HOSTILE-10", trace_of(*pages, ENDED)) == [holds]


def posted(number: int, session: str, **params: Any) -> list[Frame]:
    """A list that is asked for in a session; its answer gives the session's cursor."""
    head = f"POST /mcp HTTP/1.1\r\nMcp-Session-Id: {session}\r\n\r\n".encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    channel = f"1/post-{number}"
    body = line(result(number, tools=[], nextCursor=f"of-{session}"))
    return [
        Frame(
            0,
            0.0,
            Sender.SUBJECT,
            channel,
            Kind.REQUEST,
            head + line(request(number, "tools/list", **params)),
        ),
        Frame(0, 0.0, Sender.DRIVER, channel, Kind.HEAD, answer),
        Frame(0, 0.0, Sender.DRIVER, channel, Kind.BODY, body),
    ]


@pytest.mark.parametrize(
    ("params", "holds"), [({}, True), ({"cursor": "of-one"}, False), ({"cursor": "of-two"}, True)]
)
def test_a_cursor_of_another_session_is_found(params: dict[str, str], holds: bool) -> None:
    frames = (*posted(1, "one"), *posted(2, "two"), *posted(3, "two", **params), ENDED)
    assert verdicts("hostile.old-cursors", "PAG-07", trace_of(*frames, transport="http")) == [True, holds]


def test_in_one_session_no_cursor_can_be_of_another() -> None:
    frames = (*posted(1, "one"), *posted(2, "one", cursor="of-one"), ENDED)
    assert not verdicts("hostile.old-cursors", "PAG-07", trace_of(*frames, transport="http"))

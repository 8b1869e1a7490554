"""Checks of clients whose streams break, on traces written by hand."""

import pytest

from assay.lab.client.streams import BROKEN, ENDPOINT_EVENT, MESSAGES
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from tests.lab.client.judging import ENDED, mark, trace_of, verdicts

RESUMED = "streams.resumed"
BREAK = mark(BROKEN, t=1.0, last="e1", retry=300)
END = Frame(0, 1.0, Sender.DRIVER, "1/post-1", Kind.END, info={"clean": True})


def back(at: float, *headers: str, channel: str = "1/get-1") -> Frame:
    head = "\r\n".join(["GET /mcp HTTP/1.1", "Accept: text/event-stream", *headers]) + "\r\n\r\n"
    return Frame(0, at, Sender.SUBJECT, channel, Kind.REQUEST, head.encode())


@pytest.mark.parametrize(("at", "holds"), [(1.05, False), (1.31, True), (5.0, True)])
def test_the_delay_is_kept(at: float, holds: bool) -> None:
    trace = trace_of(BREAK, END, back(at, "Last-Event-ID: e1"), ENDED, transport="http")
    assert verdicts(RESUMED, "HTTP-26", trace) == [holds]


def test_a_stream_for_other_things_is_not_taken_for_a_return() -> None:
    other = back(1.01, channel="1/get-1")
    trace = trace_of(
        BREAK, END, other, back(1.4, "Last-Event-ID: e1", channel="1/get-2"), ENDED, transport="http"
    )
    for row in ("HTTP-24", "HTTP-26", "HTTP-34"):
        assert verdicts(RESUMED, row, trace) == [True]


def test_a_client_that_never_comes_back_is_found_when_it_has_ended() -> None:
    assert verdicts(RESUMED, "HTTP-24", trace_of(BREAK, END, ENDED, transport="http")) == [False]
    assert not verdicts(RESUMED, "HTTP-24", trace_of(BREAK, END, transport="http"))


def refused(channel: str = "1/post-1") -> list[Frame]:
    return [
        Frame(0, 0.0, Sender.SUBJECT, channel, Kind.REQUEST, b"POST /mcp HTTP/1.1\r\n\r\n{}"),
        Frame(0, 0.0, Sender.DRIVER, channel, Kind.HEAD, b"HTTP/1.1 405 Method Not Allowed\r\n\r\n"),
    ]


def told(target: str) -> list[Frame]:
    said = Frame(0, 0.0, Sender.DRIVER, "1/get-1", Kind.EVENT, ENDPOINT_EVENT + b"\ndata: /messages\n\n")
    line = f"POST {target} HTTP/1.1\r\n\r\n{{}}".encode()
    return [back(0.0), said, Frame(0, 0.0, Sender.SUBJECT, "1/post-2", Kind.REQUEST, line)]


@pytest.mark.parametrize(
    ("then", "found"),
    [([], []), (told(MESSAGES), [True]), (told("/mcp"), [False]), ([back(0.0)], [False])],
    ids=["has no need of old servers", "reaches it", "stays where it was", "says no more"],
)
def test_only_who_opens_its_stream_wants_to_reach_an_old_server(then: list[Frame], found: list[bool]) -> None:
    trace = trace_of(*refused(), *then, ENDED, transport="http")
    assert verdicts("streams.old-server", "SSE-06", trace) == found

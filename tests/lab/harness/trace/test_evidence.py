"""Excerpts prefer protocol traffic, and begin with the JSON."""

from assay.lab.harness.trace.evidence import MOST, excerpt, excerpts
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace


def trace_of(*kinds: Kind) -> Trace:
    frames = [Frame(n, 0.0, Sender.SUBJECT, "1/lines", kind, b"x") for n, kind in enumerate(kinds)]
    return Trace(Header("a-revision", "stdio", "it", "by-hand", closed=True), frames)


def numbers(lines: list[str]) -> list[int]:
    return [int(line.split()[1].removeprefix("#")) for line in lines]


def test_few_frames_are_all_shown() -> None:
    trace = trace_of(Kind.LINE, Kind.ERRORS, Kind.LINE)
    assert numbers(excerpts(trace, range(3))) == [0, 1, 2]


def test_the_answer_is_shown_despite_many_lines_on_standard_error() -> None:
    trace = trace_of(Kind.LINE, *[Kind.ERRORS] * MOST, Kind.LINE)
    assert numbers(excerpts(trace, range(MOST + 2))) == [0, MOST + 1]


def test_standard_error_is_shown_if_there_is_nothing_else() -> None:
    trace = trace_of(*[Kind.ERRORS] * (MOST + 1))
    assert numbers(excerpts(trace, range(MOST + 1))) == list(range(MOST))


def test_message_of_an_http_request_comes_before_its_head() -> None:
    raw = b'POST /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n{"id":1}'
    text = excerpt(Frame(3, 0.0, Sender.DRIVER, "1/post-1", Kind.REQUEST, raw))
    assert text == '→ #3 1/post-1 request: {"id":1}  (POST /mcp HTTP/1.1 ⏎ Host: localhost)'


def test_message_of_an_event_comes_before_its_other_fields() -> None:
    raw = b'id: 7\nevent: message\ndata: {"id":1}\n\n'
    text = excerpt(Frame(4, 0.0, Sender.SUBJECT, "1/post-1", Kind.EVENT, raw))
    assert text == '← #4 1/post-1 event: {"id":1}  (id: 7 ⏎ event: message)'

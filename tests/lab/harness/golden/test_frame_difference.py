"""The place of a difference: a header, a pointer or a byte."""

from collections import Counter

import pytest

from assay.lab.harness.golden.canonical import canonical
from assay.lab.harness.golden.frame_difference import FrameDifference, frame_differences
from assay.lab.harness.golden.normaliser import OPEN_STREAMS
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Trace
from tests.lab.traces import http_trace, result, stdio_trace


def first(before: Trace, after: Trace) -> FrameDifference:
    return next(frame_differences(canonical(before), canonical(after)))


def head(raw: bytes) -> Trace:
    return http_trace([("<", "1/post-1", Kind.HEAD, raw + b"\r\n\r\n")])


@pytest.mark.parametrize(
    ("before", "after", "at"),
    [
        (b"HTTP/1.1 200 OK", b"HTTP/1.1 404 Not Found", "first line"),
        (b"HTTP/1.1 200 OK\r\nA: 1", b"HTTP/1.1 200 OK\r\nA: 2", "header A"),
        (b"HTTP/1.1 200 OK\r\nA: 1", b"HTTP/1.1 200 OK", "header A"),
        (b"HTTP/1.1 200 OK", b"HTTP/1.1 200 OK\r\nB: 1", "header B"),
        (b"HTTP/1.1 200 OK\r\nA: 1\r\nB: 1", b"HTTP/1.1 200 OK\r\nB: 1\r\nA: 1", "order of headers"),
    ],
)
def test_heads_differ_at_a_line(before: bytes, after: bytes, at: str) -> None:
    assert first(head(before), head(after)).at == at


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a/b": [1, 2]}, {"a/b": [1, 3]}, ("/result/a~1b/1", "2", "3")),
        ({"a": [1]}, {"a": [1, 2]}, ("/result/a/1", "nothing", "2")),
        ({"a": 1}, {"a": True}, ("/result/a", "1", "true")),
        ({"a": 1}, {"a": 1.0}, ("/result/a", "1", "1.0")),
        ({"a": 1}, {}, ("/result/a", "1", "nothing")),
    ],
)
def test_messages_differ_at_a_pointer(
    before: dict[str, object], after: dict[str, object], expected: object
) -> None:
    difference = first(stdio_trace(("<", result(1, **before))), stdio_trace(("<", result(1, **after))))
    assert (difference.at, difference.before, difference.after) == expected


def test_long_values_are_truncated() -> None:
    difference = first(stdio_trace(("<", result(1, a="x" * 9_999))), stdio_trace(("<", result(1, a=""))))
    assert difference.before.endswith("(10001 characters)")


def test_frame_numbers_are_those_of_the_original_traces() -> None:
    before = stdio_trace((">", b"a\n"), ("<", b"x\n"), (">", b"b\n"), ("<", b"y\n"))
    after = stdio_trace((">", b"a\n"), (">", b"b\n"), ("<", b"x\n"), ("<", b"z\n"))
    difference = first(before, after)
    assert (difference.frame_before, difference.frame_after) == (3, 3)
    assert str(difference) == "frame #3 (subject on 1/lines), byte 0"
    assert first(before, stdio_trace((">", b"a\n"), (">", b"b\n"), ("<", b"z\n"))).frame_after == 2


def test_another_kind_of_frame_is_a_difference() -> None:
    def ended(kind: Kind) -> Trace:
        return http_trace(
            [("<", "1/post-1", Kind.HEAD, b"HTTP/1.1 200 OK\r\n\r\n"), ("<", "1/post-1", kind, b"x")]
        )

    assert first(ended(Kind.BODY), ended(Kind.EVENT)).at == "kind of frame"


def test_only_frames_of_the_subject_after_a_disconnect_are_excused() -> None:
    opened = (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", b"data: 1\n\n", b"data: 2\n\n")

    def stream(count: int, *following: Kind) -> Trace:
        kinds = (Kind.HEAD, Kind.EVENT, Kind.EVENT)
        frames = [("<", "1/get-1", kind, raw) for kind, raw in zip(kinds, opened, strict=True)][:count]
        return http_trace([*frames, *(("<", "1/get-1", kind, b"") for kind in following)])

    excused: Counter[str] = Counter()
    assert not list(frame_differences(canonical(stream(2)), canonical(stream(3)), excused))
    assert excused == {OPEN_STREAMS.name: 1}
    assert first(stream(2, Kind.END), stream(3, Kind.END)).at == "the frame is new"
    assert (
        first(stdio_trace((">", b"a\n")), stdio_trace((">", b"a\n"), (">", b"b\n"))).at == "the frame is new"
    )

"""Server-sent events are written, and parsed by the WHATWG rules within the limit."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.protocol.framing import sse
from assay.protocol.framing.sse import SseEvent, SseParser, SseTooLong

LIMIT = 10_000
CUTS = st.lists(st.integers(min_value=0))
MESSAGES = st.binary(max_size=50).filter(lambda data: not set(b"\r\n") & set(data))
IDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=10)
EVENTS = st.builds(SseEvent, data=MESSAGES, event_id=st.none() | IDS)
# A small alphabet, so that terminators, fields and limits coincide often.
STREAMS = st.lists(
    st.sampled_from(
        [b"data", b"id", b"event", b"retry", b":", b" ", b"x", b"7", b"\0", b"\r", b"\n", sse.BOM]
    )
).map(b"".join)


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def read(*pieces: bytes) -> list[SseEvent]:
    parser = SseParser(LIMIT)
    return [event for piece in pieces for event in parser.feed(piece)]


def outcome(pieces: list[bytes], limit: int) -> tuple[list[SseEvent], bool, str, int | None, int]:
    """The whole visible state: events, whether the limit was exceeded, and the fields of the parser."""
    parser = SseParser(limit)
    events: list[SseEvent] = []
    exceeded = False
    try:
        for piece in pieces:
            events += parser.feed(piece)
    except SseTooLong as error:
        events += error.events
        exceeded = True
    return events, exceeded, parser.last_event_id, parser.retry_ms, parser.comments


@given(events=st.lists(EVENTS), cuts=CUTS)
def test_written_events_are_parsed_in_any_chunking(events: list[SseEvent], cuts: list[int]) -> None:
    written = b"".join(sse.event(each.data, event_id=each.event_id) for each in events)
    assert read(*chunks(written, cuts)) == events


@given(data=STREAMS, cuts=CUTS, limit=st.integers(0, 30))
def test_chunking_changes_neither_events_nor_limit(data: bytes, cuts: list[int], limit: int) -> None:
    assert outcome(chunks(data, cuts), limit) == outcome([data], limit)


@given(data=st.binary(), cuts=CUTS)
def test_arbitrary_bytes_never_raise(data: bytes, cuts: list[int]) -> None:
    assert outcome(chunks(data, cuts), LIMIT) == outcome([data], LIMIT)


def test_written_event_has_id_then_type_then_data() -> None:
    assert sse.event(b'{"a":1}', event_id="s/7") == b'id: s/7\nevent: message\ndata: {"a":1}\n\n'
    assert sse.event(b"{}") == b"event: message\ndata: {}\n\n"


def test_priming_event_carries_an_id_and_empty_data() -> None:
    assert sse.priming("s/0") == b"id: s/0\ndata: \n\n"
    assert sse.priming("s/0", retry_ms=500) == b"id: s/0\nretry: 500\ndata: \n\n"
    assert read(sse.priming("s/0")) == [SseEvent(b"", "s/0")]


def test_retry_and_comments_are_not_events() -> None:
    parser = SseParser(LIMIT)
    assert parser.feed(sse.retry(1500) + sse.comment() + sse.comment("alive")) == []
    assert (parser.retry_ms, parser.comments) == (1500, 2)


@pytest.mark.parametrize(
    "write",
    [
        lambda: sse.event(b"a\nb"),
        lambda: sse.event(b"a\rb"),
        lambda: sse.event(b"a", event_id="1\ndata: forged"),
        lambda: sse.priming("1\0"),
        lambda: sse.comment("one\ntwo"),
        lambda: sse.retry(-1),
    ],
)
def test_writer_refuses_what_would_break_the_event(write: Callable[[], bytes]) -> None:
    with pytest.raises(ValueError):
        write()


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\n", [SseEvent(b"a")]),
        (b"data: a\r\rdata: b\r\n\r\n", [SseEvent(b"a"), SseEvent(b"b")]),
        (b"\xef\xbb\xbfdata: a\n\n", [SseEvent(b"a")]),
        (b"data: a\ndata: b\ndata\n\n", [SseEvent(b"a\nb\n")]),
        (b"data:a\n\n", [SseEvent(b"a")]),
        (b"data:  a\n\n", [SseEvent(b" a")]),
        (b"data\n\n", [SseEvent(b"")]),
        (b"event: ping\ndata: a\n\ndata: b\n\n", [SseEvent(b"a", event="ping"), SseEvent(b"b")]),
        (b"event: ping\n\ndata: b\n\n", [SseEvent(b"b")]),
        (b"Data: a\nother: b\n\n", []),
        (b"data: cut off", []),
        (b"id: 1\ndata: a\nid: 2\0\n\n", [SseEvent(b"a", "1")]),
    ],
)
def test_stream_is_read_by_the_whatwg_rules(stream: bytes, events: list[SseEvent]) -> None:
    """https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation"""
    assert read(stream) == events


def test_carriage_return_ends_an_event_without_waiting_for_more() -> None:
    parser = SseParser(LIMIT)
    assert parser.feed(b"data: a\r\n\r") == [SseEvent(b"a")]
    assert parser.feed(b"\n") == []
    assert parser.feed(b"data: b\n\n") == [SseEvent(b"b")]


def test_last_event_id_outlives_events_without_an_id() -> None:
    parser = SseParser(LIMIT)
    parser.feed(b"id: 7\n\ndata: a\n\n")
    assert parser.last_event_id == "7"
    parser.feed(b"id\n\n")
    assert parser.last_event_id == ""


def test_unfinished_event_does_not_move_the_last_event_id() -> None:
    """Resuming after a truncated event would lose it."""
    parser = SseParser(LIMIT)
    parser.feed(b"id: 7\ndata: a\n\nid: 8\ndata: b\n")
    assert parser.last_event_id == "7"


@pytest.mark.parametrize("value", [b"", b"-1", b"1.5", b"1 ", b"\xc2\xb2", b"9" * 5000])
def test_invalid_retry_is_ignored(value: bytes) -> None:
    parser = SseParser(LIMIT)
    parser.feed(b"retry: 3\nretry: " + value + b"\n\n")
    assert parser.retry_ms == 3


def test_limit_counts_the_lines_of_one_event_together() -> None:
    with pytest.raises(SseTooLong) as caught:
        SseParser(20).feed(b"data: ok\n\ndata: 0123\ndata: 45678\n\n")
    assert (caught.value.limit, caught.value.events) == (20, (SseEvent(b"ok"),))
    assert str(caught.value) == "server-sent event longer than the limit: 20 bytes"


def test_endless_line_is_refused_and_the_parser_stays_refused() -> None:
    parser = SseParser(20)
    with pytest.raises(SseTooLong):
        parser.feed(b":" + b"x" * 20)
    with pytest.raises(SseTooLong):
        parser.feed(b"data: a\n\n")


def test_comments_without_end_never_reach_the_limit() -> None:
    parser = SseParser(20)
    assert parser.feed(b": alive\n" * 100) == []
    assert parser.comments == 100


@pytest.mark.parametrize(
    "line", [b"data\n", b"data:ab\n", b"id\n", b"event:x\n", b"retry:1\n", b":\n", b"x:\n"]
)
def test_an_event_of_many_small_lines_takes_little_more_memory_than_its_limit(line: bytes) -> None:
    limit = 50_000
    chunk = line * 100
    parser = SseParser(limit)
    tracemalloc.start()
    try:
        for _ in range(2 * limit // len(chunk)):
            parser.feed(chunk)
    except SseTooLong:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 2 * limit

"""Stored traces are read back as written, and refused after any modification."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.lab.harness.trace.file import BadTrace, dump_trace, parse_trace
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE

HEADER = Header(HANDSHAKE[-1].date, "stdio", "subject", "scenario", "2000-01-01T00:00:00.000Z", closed=True)
info = st.dictionaries(
    st.text(max_size=5), st.integers(-5, 5) | st.text(max_size=5) | st.booleans(), max_size=2
)
frame_parts = st.tuples(
    st.sampled_from(Sender), st.text(max_size=8), st.sampled_from(Kind), st.binary(max_size=40), info
)


def trace_of(parts: list[tuple[Sender, str, Kind, bytes, dict[str, object]]]) -> Trace:
    return Trace(HEADER, [Frame(n, n / 8, *part) for n, part in enumerate(parts)])


@given(st.lists(frame_parts, max_size=6))
def test_trace_is_read_back_as_it_was_written(
    parts: list[tuple[Sender, str, Kind, bytes, dict[str, object]]],
) -> None:
    trace = trace_of(parts)
    data = dump_trace(trace)
    again = parse_trace(data)
    assert (again.header, again.frames) == (trace.header, trace.frames)
    assert dump_trace(again) == data


def sample() -> bytes:
    parts = [(Sender.DRIVER, "1/lines", Kind.LINE, f"line {n}\n".encode(), {}) for n in range(3)]
    return dump_trace(trace_of(parts))


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"line 1", b"line 7"), (b'"t":0.125', b'"t":0.25'), (b'"subject":"subject"', b'"subject":"another"')],
)
def test_changed_trace_is_refused(old: bytes, new: bytes) -> None:
    with pytest.raises(BadTrace, match="chain is broken"):
        parse_trace(sample().replace(old, new, 1))


def test_trace_without_a_frame_from_its_middle_is_refused() -> None:
    lines = sample().splitlines(keepends=True)
    with pytest.raises(BadTrace, match="chain is broken"):
        parse_trace(b"".join(lines[:2] + lines[3:]))


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(BadTrace):
        parse_trace(data)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"format":2,"revision":"x","transport":"stdio","subject":"s","scenario":"s"}', "trace format 2"),
        (
            b'{"format":1,"revision":"x","transport":"stdio","subject":"s","scenario":"s"}',
            "unknown revision: x",
        ),
    ],
)
def test_header_of_another_kind_is_refused(line: bytes, words: str) -> None:
    with pytest.raises(BadTrace, match=words):
        parse_trace(line + b"\n")

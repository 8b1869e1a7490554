"""Excerpts prefer protocol traffic to lines on standard error."""

from assay.lab.harness.trace.excerpt import MOST, excerpts
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

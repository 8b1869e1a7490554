"""Checks of deeply nested JSON on traces written by hand."""

from typing import Any

import pytest

from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.suite.robustness.deep_json import COST, FLAT, FLOOR, NESTED, PADDING, RATIO, SIZE
from assay.revisions.registry import HANDSHAKE
from tests.lab.suite.judging import seen
from tests.lab.traces import request, result, stdio_trace


def trace_of(**seconds: list[Any]) -> Trace:
    infos = [
        {"label": COST, "of": FLAT if name == "flat" else NESTED, "seconds": value}
        for name, values in seconds.items()
        for value in values
    ]
    header = Header(HANDSHAKE[-1].date, "stdio", "by hand", "by-hand", closed=True)
    return Trace(
        header,
        [Frame(n, 0.0, Sender.DRIVER, "1/marks", Kind.MARK, b"", info) for n, info in enumerate(infos)],
    )


@pytest.mark.parametrize(
    ("flat", "nested", "holds"),
    [
        ([0.01], [0.01], True),
        ([0.1] * 3, [0.1 * RATIO] * 3, True),
        ([0.1] * 3, [0.1 * RATIO + 0.1] * 3, False),
        # Small numbers are noise, whatever their ratio.
        ([0.001] * 3, [FLOOR] * 3, True),
        # One slow round of three is noise, too.
        ([0.01] * 3, [0.01, 0.01, 9.0], True),
        ([0.01] * 3, [0.01, 9.0, 9.0], False),
    ],
)
def test_nested_json_may_take_a_multiple_of_flat_json(
    flat: list[float], nested: list[float], holds: bool
) -> None:
    assert seen("robustness.deep-json", trace_of(flat=flat, nested=nested)) == [("ROBUST-08", holds)]


@pytest.mark.parametrize("seconds", [{"flat": [0.1]}, {"nested": [9.0]}, {"flat": ["1"], "nested": [9.0]}])
def test_without_both_times_nothing_is_judged(seconds: dict[str, list[Any]]) -> None:
    assert seen("robustness.deep-json", trace_of(**seconds)) == []


def test_all_kinds_of_json_have_about_the_same_size() -> None:
    assert all(0.99 * SIZE <= len(padding) <= 1.01 * SIZE for padding in PADDING.values())


def after(*turns: tuple[str, Any]) -> list[tuple[str, bool]]:
    return seen("robustness.after-deep-json", stdio_trace((">", PADDING[NESTED] + b"\n"), *turns))


def test_later_requests_are_served_after_deeply_nested_json() -> None:
    assert after((">", request(1, "ping")), ("<", result(1))) == [("ROBUST-09", True)]


def test_request_that_fails_after_deeply_nested_json_is_reported() -> None:
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "stack overflow"}}
    assert after((">", request(1, "ping")), ("<", error)) == [("ROBUST-09", False)]


def test_process_that_exits_on_deeply_nested_json_is_reported() -> None:
    trace = stdio_trace((">", PADDING[NESTED] + b"\n"))
    end = Frame(1, 0.1, Sender.SUBJECT, "1/lines", Kind.EXIT, b"", {"status": 1})
    observed = seen("robustness.after-deep-json", Trace(trace.header, [*trace.frames, end]))
    assert observed == [("ROBUST-09", False)]


def test_flat_json_is_no_reason_to_judge_what_follows() -> None:
    trace = stdio_trace((">", PADDING[FLAT] + b"\n"), (">", request(1, "ping")), ("<", result(1)))
    assert seen("robustness.after-deep-json", trace) == []

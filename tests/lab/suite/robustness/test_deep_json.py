"""The check of deeply nested JSON on traces written by hand."""

from typing import Any

import pytest

from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.suite.robustness.deep_json import COST, FLAT, FLOOR, NESTED, PADDING, RATIO, SIZE
from assay.revisions.registry import HANDSHAKE
from tests.lab.suite.judging import seen


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

"""A completion is a list of at most a hundred texts, and what it says of their number is true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.answered import answered
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.checks.utilities.completion_values import MOST

ROW = "completion-complete"


@official_check(ROW, "A completion is a list of texts", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "completion/complete"):
        problem = _problem(exchange)
        expected = f"`completion.values`, at most {MOST} texts, counted rightly"
        yield observe(ROW, problem is None, exchange, expected=expected, observed=problem)


def _problem(exchange: Exchange) -> str | None:
    completion = (exchange.result or {}).get("completion")
    values = completion.get("values") if isinstance(completion, dict) else None
    if not isinstance(completion, dict) or not isinstance(values, list):
        return f"no list of values: {exchange}"
    odd = [value for value in values if not isinstance(value, str)]
    if odd or len(values) > MOST:
        return f"the value {odd[0]!r}" if odd else f"{len(values)} values"
    return _miscounted(len(values), completion.get("total"), completion.get("hasMore"))


def _miscounted(given: int, total: Any, more: Any) -> str | None:
    """Both are optional; where they are there, they must go together with what was given."""
    if not isinstance(total, int) or isinstance(total, bool):
        return None
    if total < given or (total > given and more is False):
        return f"{given} values, of {total} in total, with hasMore {more!r}"
    return None

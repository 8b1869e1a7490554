"""The first request of a client that knows tasks."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

from .answered import answered
from .extension import declares_tasks


def judge_opening(row: str, trace: Trace) -> Iterator[Observation]:
    """A server that has the extension lets its clients in."""
    first = next((one for one in answered(trace, "server/discover") if declares_tasks(one.params)), None)
    if first is not None:
        holds = first.result is not None
        yield observe(row, holds, first, expected="a result of server/discover", observed=first)

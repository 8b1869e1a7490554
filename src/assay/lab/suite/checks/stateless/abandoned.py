"""A question that nobody answers holds nothing up."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.question import ASKED_DURING
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.retrying import identity, wants_input
from assay.lab.suite.self_description import capabilities_of


@check("A question may be left unanswered", rows=("MR-12",))
def judge(trace: Trace) -> Iterator[Observation]:
    left: dict[str, Exchange] = {}
    for exchange in trace.exchanges(*ASKED_DURING):
        name = identity(exchange)
        asked = left.pop(name, None)
        if "inputResponses" in exchange.params:
            continue
        alike = asked is not None and capabilities_of(asked) == capabilities_of(exchange)
        if asked is not None and alike and exchange.answer is not None:
            expected = "to be served anew, though the question before was left alone"
            holds = exchange.code is None
            yield observe("MR-12", holds, asked, exchange, expected=expected, observed=exchange)
        if wants_input(exchange):
            left[name] = exchange

"""Questions need what the client declared with the very request."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.input_round import asked_in, asking_tool, rounds
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.retrying import NEEDED, wants_input
from assay.lab.suite.self_description import as_object, capabilities_of

ROW = "sep-2322-respect-client-capabilities"
FIXED = {"sampling"}
"""What the fixture can do with: there it must ask. To others it need not."""


@official_check("input-required-result-capability-check", "A client is asked as it can be", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in rounds(trace, asking_tool("capabilities")):
        declared = capabilities_of(exchange).keys()
        if wants_input(exchange) or declared == FIXED:
            methods = [str(as_object(one).get("method")) for one in asked_in(exchange).values()]
            allowed = bool(methods) and all(NEEDED.get(method) in declared for method in methods)
            expected = f"questions that need {', '.join(sorted(declared))} and nothing else"
            yield observe(ROW, allowed, exchange, expected=expected, observed=_told(exchange, methods))


def _told(exchange: Exchange, methods: list[str]) -> str:
    return f"questions by {', '.join(methods)}" if methods else str(exchange)

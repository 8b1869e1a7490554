"""A request that needs what its client did not declare is refused, and says what it needs."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.question import ASKED_DURING
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.retrying import NEEDED, identity, wants_input
from assay.lab.suite.self_description import as_object, capabilities_of
from assay.model.error import MISSING_CAPABILITY


@check("A missing capability is named", rows=("META-10",))
def judge(trace: Trace) -> Iterator[Observation]:
    needed: dict[str, set[str]] = {}
    for exchange in trace.exchanges(*ASKED_DURING):
        name = identity(exchange)
        if wants_input(exchange):
            needed[name] = _needed(exchange)
        elif exchange.code is not None and "inputResponses" not in exchange.params:
            lacking = needed.get(name, set()) - capabilities_of(exchange).keys()
            if lacking:
                problem = _problem(exchange, lacking)
                expected = (
                    f"error {MISSING_CAPABILITY} that names {', '.join(sorted(lacking))}, on HTTP with 400"
                )
                yield observe("META-10", problem is None, exchange, expected=expected, observed=problem)


def _needed(exchange: Exchange) -> set[str]:
    """What the questions of a result need, seen from the same request with more declared."""
    asked = as_object((exchange.result or {}).get("inputRequests")).values()
    return {NEEDED[method] for one in asked if (method := str(as_object(one).get("method"))) in NEEDED}


def _problem(exchange: Exchange, lacking: set[str]) -> str | None:
    if exchange.code != MISSING_CAPABILITY or exchange.answer is None:
        return str(exchange)
    required = as_object(exchange.answer.error.get("data")).get("requiredCapabilities")
    if not isinstance(required, dict) or not lacking & required.keys():
        return f"`data.requiredCapabilities` is {required!r}"
    status = 400 if exchange.head is None else exchange.head.status
    return None if status == 400 else f"HTTP status {status}"

"""Subscribing and unsubscribing do what they say."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("Subscriptions begin and end as asked", rows=("RS-03",))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/subscribe", "resources/unsubscribe"):
        if exchange.answer is not None:
            holds = exchange.result is not None
            yield observe("RS-03", holds, exchange, expected="a result", observed=exchange)
    # An update of what was never subscribed to is another fault: see `lifecycle.negotiated-only`.
    ended = [exchange.params.get("uri") for exchange in trace.exchanges("resources/unsubscribe")]
    for probe in trace.probes("unsubscribed") if ended else ():
        late = [one for one in probe.received if one.method == UPDATED and one.params.get("uri") in ended]
        expected = "no update of what is not subscribed to any more"
        yield observe("RS-03", not late, probe, expected=expected, observed=late[0] if late else "none")

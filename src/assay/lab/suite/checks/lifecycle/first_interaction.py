"""Until a server has answered `initialize`, it has nothing to say but pings and logs."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ALLOWED = frozenset({"ping", "notifications/message", "notifications/progress", "notifications/cancelled"})
"""What the specification lets a server send before a session is open, and what can belong to `initialize`."""


@check("Nothing comes before the handshake", rows=("LIFE-01",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    greeted: set[str] = set()
    for exchange in trace.exchanges():
        connection = exchange.request.frame.connection
        first = connection not in greeted
        greeted.add(connection)
        if first and exchange.method == "initialize" and exchange.answer is not None:
            end = exchange.answer.frame.n
            said = [one for one in trace.received if one.frame.connection == connection and one.frame.n < end]
            early = [one for one in said if one.method and one.method not in ALLOWED]
            yield observe(
                "LIFE-01",
                not early,
                *early,
                exchange,
                expected="nothing but pings and logs before the answer to `initialize`",
                observed=", ".join(map(str, early)),
            )

"""What worked on one connection works as the first thing on another."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.retrying import identity
from assay.lab.suite.self_description import is_of


@check("Related requests need not share a connection", rows=("BASE-29",))
def judge(trace: Trace) -> Iterator[Observation]:
    begun: set[str] = set()
    worked: dict[str, Exchange] = {}
    for exchange in trace.exchanges():
        connection, name = exchange.request.frame.connection, identity(exchange)
        first = connection not in begun
        begun.add(connection)
        if first and name in worked and exchange.answer is not None:
            yield observe(
                "BASE-29",
                exchange.result is not None,
                worked[name],
                exchange,
                expected="a result, as on the connection before",
                observed=exchange,
            )
        elif not first and exchange.result is not None and is_of(exchange, trace.revision):
            worked[name] = exchange

"""On stdio a client asks what the server speaks before all else, and once is enough anywhere."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import turned_away
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe

PROBE = "server/discover"
OFTEN = 3
"""Probes that are too many, where there are as many as other requests."""


@check("A client probes once, and on stdio first", rows=("VER-09", "VER-11", "VER-12"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    by_connection: dict[str, list[str]] = {}
    for exchange in (one for one in trace.inquiries() if not turned_away(one)):
        said = by_connection.setdefault(exchange.request.frame.connection, [])
        # A process that was started later is known by then.
        if not any(by_connection.values()) and trace.transport == Transport.STDIO:
            first, expected = exchange.method == PROBE, f"{PROBE} before all else"
            for row in ("VER-11", "VER-12"):
                yield observe(row, first, exchange, expected=expected, observed=exchange.method)
        said.append(exchange.method)
    for connection, said in by_connection.items():
        probes, others = said.count(PROBE), len(said) - said.count(PROBE)
        if probes and others > 1:
            asked = [one for one in trace.inquiries(PROBE) if one.request.frame.connection == connection]
            often = probes >= OFTEN and probes >= others
            expected, observed = "one probe", f"{probes}, and {others} other requests"
            yield observe("VER-09", not often, *asked, expected=expected, observed=observed)

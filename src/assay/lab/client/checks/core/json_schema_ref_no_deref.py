"""What a schema points to on the network is not fetched."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.owed import with_owed
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "sep-2106-no-network-ref-deref"
CANARY = "canary"


@official_check("json-schema-ref-no-deref", "The network is not asked for schemas", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from with_owed(trace, _seen(trace), {ROW: "a request tools/list"})


def _seen(trace: Trace) -> Iterator[Observation]:
    visits = [one for one in trace.frames if one.kind is Kind.REQUEST and one.connection == CANARY]
    for visit in visits:
        told = visit.raw.partition(b"\r\n")[0].decode("latin-1")
        yield observe(ROW, False, visit, expected="no request to the address of a $ref", observed=told)
    for listing in trace.inquiries("tools/list"):
        if listing.result is not None and not visits:
            yield observe(ROW, True, listing, expected="", observed="")

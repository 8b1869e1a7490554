"""Scheme and host in capitals are no reason to refuse a resource."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey, content
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

ROW = "AU-60"


@check("Capitals in the resource are accepted", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for call in [one for one in journey.resource_documents if one.status == 200][:1]:
        resource = str(content(call).get("resource", ""))
        origin = resource.removesuffix("/mcp")
        if origin != origin.lower():
            made = journey.authorizations
            expected = f"an authorization request, since {resource} is the endpoint"
            yield observe(ROW, bool(made), call, *made[:1], expected=expected, observed="none")

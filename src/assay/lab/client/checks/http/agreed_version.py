"""After a handshake each request names the agreed version."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import describes_itself, endpoint_calls, handshakes
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.registry import BY_DATE

from .session_named import opens

HEADER = "MCP-Protocol-Version"


@check("Requests name the agreed version", rows=("HTTP-44", "HTTP-45"), everywhere=True, transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    agreed = [(one.answered, BY_DATE[one.agreed]) for one in handshakes(trace) if one.agreed in BY_DATE]
    for call in endpoint_calls(trace):
        known = [revision for since, revision in agreed if since < call.request.n]
        if not known or opens(call) or any(map(describes_itself, call.asked)):
            continue
        if not all(revision.http.version_header for revision in known):
            continue
        given = call.sent.get(HEADER)
        yield observe("HTTP-44", given is not None, call, expected=HEADER, observed="no such header")
        if given is not None:
            right = given in {revision.date for revision in known}
            expected, observed = f"{HEADER}: {known[-1]}", given
            yield observe("HTTP-45", right, call, expected=expected, observed=observed)

"""A browser on this machine is not used by pages of other sites."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.trace.admission import told
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ORIGIN: Final = "CONF-SEC-04.origin"
HOST: Final = "CONF-SEC-04.host"


@profile_check("Pages of other sites are refused", rows=(ORIGIN, HOST), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        host, origin = call.sent.get("host") or "", call.sent.get("origin")
        if call.head is None:
            continue
        if not is_local(host):
            seen = f"{told(call)} for Host {host}"
            yield observe(HOST, _is_refused(call), call, expected="a refusal", observed=seen)
        elif origin is not None and not is_local(origin.partition("://")[2]):
            seen = f"{told(call)} for Origin {origin}"
            yield observe(ORIGIN, call.status == 403, call, expected="status 403", observed=seen)


def _is_refused(call: Call) -> bool:
    return 400 <= call.status < 500

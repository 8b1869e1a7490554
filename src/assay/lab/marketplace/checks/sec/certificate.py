"""Where clients show certificates, nobody else is let in: at the handshake, or right after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.links.identity import CERTIFICATE, REFUSED
from assay.lab.harness.trace.admission import told
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ROW: Final = "CONF-SEC-04.certificate"
EXPECTED: Final = "no connection, or a status of 4xx"


@profile_check("Nobody is let in without a certificate that counts", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    shown = {mark.connection: mark.info.get("shows") for mark in trace.marks(CERTIFICATE)}
    for call in trace.calls:
        if call.request.connection in shown and (call.head is not None or call.is_over):
            seen = f"{told(call)} with a certificate that is {shown[call.request.connection]}"
            yield observe(ROW, _is_refused(call), call, expected=EXPECTED, observed=seen)
    for mark in trace.marks(REFUSED):
        yield observe(ROW, True, mark, expected=EXPECTED, observed=mark.info.get("reason"))


def _is_refused(call: Call) -> bool:
    return call.head is None or 400 <= call.status < 500

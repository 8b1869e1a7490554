"""Once a request is cancelled, nothing more is said about it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe


@check("Nothing more is said of a cancelled request", rows=("STD-10",), transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("cancelled"):
        said = [one for one in probe.received if _is_about(one, probe.info.get("id"))]
        yield observe(
            "STD-10",
            not said,
            probe,
            expected="no message about the cancelled request",
            observed=said[0] if said else "none",
        )


def _is_about(message: Message, request_id: object) -> bool:
    if message.is_response:
        return same_id(message.id, request_id)
    meta = message.params.get("_meta")
    return isinstance(meta, dict) and same_id(meta.get(SUBSCRIPTION_KEY), request_id)

"""A version that the server does not have is refused with the list of those that it has."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.mirrored import VERSION, standard_mirrors
from assay.model.error import UNSUPPORTED_VERSION
from assay.revisions.registry import BY_DATE


@check("An unsupported version gets 400 and the supported ones", rows=("HTTP-51",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        mirrors = standard_mirrors(call, trace.revision)
        told = next((one.told for one in mirrors if one.header == VERSION), None)
        if told is None or told in BY_DATE or any(one.flaw for one in mirrors):
            continue
        yield observe(
            "HTTP-51",
            call.status == 400 and call.code == UNSUPPORTED_VERSION and bool(supported(call)),
            call,
            expected=f"status 400 with error {UNSUPPORTED_VERSION} and `data.supported`",
            observed=f"status {call.status}, error {call.code}, supported {supported(call)}",
        )


def supported(call: Call) -> list[str]:
    """The versions that the refusal lists."""
    data = next((message.error.get("data") for message in call.messages), None)
    found = data.get("supported") if isinstance(data, dict) else None
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []

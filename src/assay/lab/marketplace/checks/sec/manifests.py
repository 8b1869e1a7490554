"""What a protected server can do is for those whom it lets in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.subject.bearer import GARBAGE, NONE
from assay.lab.harness.trace.admission import calls_with, told
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.sec_admission import MANIFESTS, UNAUTHORIZED

ROW: Final = "CONF-SEC-04.manifests"


@profile_check("Manifests take a token", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    refused = [
        (kind, call) for kind, call in calls_with(trace, NONE, GARBAGE) if call.sent.target in MANIFESTS
    ]
    others = {id(call) for _, call in refused}
    shown = {call.sent.target for call in trace.calls if id(call) not in others and _is_shown(call)}
    for kind, call in refused:
        # One that is shown to nobody is missed by another row.
        if call.sent.target in shown or _is_shown(call):
            right = call.status == UNAUTHORIZED
            seen = f"{told(call)} for {call.sent.target} with a token that is {kind}"
            yield observe(ROW, right, call, expected=f"status {UNAUTHORIZED}", observed=seen)


def _is_shown(call: Call) -> bool:
    return call.sent.target in MANIFESTS and 200 <= call.status < 300

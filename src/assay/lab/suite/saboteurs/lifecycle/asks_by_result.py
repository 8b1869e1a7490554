"""Questions are asked in the way of another revision."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.revision import Asking


@on_reply(
    "a result asks for input, in a revision where servers ask by requests",
    breaks="LIFE-13",
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "result" in reply:
        reply["result"] |= {"resultType": "input_required", "inputRequests": {}}
    return reply

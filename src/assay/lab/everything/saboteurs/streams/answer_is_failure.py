"""The tool gives up when nobody listens."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY


@on_reply(
    "the answer after coming back is a failure", breaks="server-sse-disconnect-resume", transports=HTTP_ONLY
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.call is not None and context.call.method == "GET" and "result" in reply:
        reply["result"]["isError"] = True
    return reply

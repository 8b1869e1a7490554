"""Input is wanted, and nobody knows which."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a result wants input and has neither questions nor state", breaks="MR-05", scenario="stateless.asking"
)
def change(reply: Json, context: FaultContext) -> Json:
    for key in ("inputRequests", "requestState"):
        if reply.get("result", {}).get("resultType") == "input_required":
            reply["result"].pop(key, None)
    return reply

"""A tool that has asked is busy until it is answered."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request, params_of
from assay.model.error import INVALID_REQUEST


def remember(reply: Json, context: FaultContext) -> Json:
    waits = reply.get("result", {}).get("resultType") == "input_required"
    if context.method == "tools/call":
        context.memory[context.params.get("name", "")] = waits
    return reply


@on_request(
    "a tool is busy until its question is answered",
    breaks="MR-12",
    scenario="stateless.asking",
    reply=remember,
)
def change(message: Json, context: FaultContext) -> Json | Answered:
    params = params_of(message)
    if not context.memory.get(params.get("name", "")) or "inputResponses" in params:
        return message
    error = {"code": INVALID_REQUEST, "message": "waiting for input"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error}])

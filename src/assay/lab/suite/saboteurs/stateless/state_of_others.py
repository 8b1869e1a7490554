"""State is signed, and good for any request."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


def remember(reply: Json, context: FaultContext) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        context.memory[context.params["name"]] = state
        context.memory.setdefault("issued", []).append(state)
    return reply


@on_request(
    "request state of another request is accepted",
    breaks="MR-10",
    scenario="stateless.asking",
    reply=remember,
)
def change(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if params.get("requestState") in context.memory.get("issued", ()):
        params["requestState"] = context.memory[params["name"]]
    return message

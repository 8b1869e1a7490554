"""State is believed if it is much like one that was given out."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


def remember(reply: Json, context: FaultContext) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        context.memory.setdefault("issued", []).append(state)
    return reply


@on_request("changed state is believed", breaks="sep-2322-reject-tampered-state", reply=remember)
def change(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    state, issued = params.get("requestState"), context.memory.get("issued", [])
    if state is not None and len(state) == len(issued[-1] if issued else ""):
        params["requestState"] = max(issued, key=lambda one: sum(map(str.__eq__, one, state)))
    return message

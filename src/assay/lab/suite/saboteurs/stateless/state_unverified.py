"""Whatever comes back as state is taken to be what was given out."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


def remember(reply: Json, context: FaultContext) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        context.memory.setdefault("issued", []).append(state)
    return reply


@on_request(
    "changed request state is believed",
    breaks="MR-09",
    scenario="stateless.asking",
    server="everything",
    reply=remember,
)
def change(message: Json, context: FaultContext) -> Json:
    state = params_of(message).get("requestState")
    if state is not None and context.memory:
        # The one that was changed is the one it is most like.
        alike = max(context.memory["issued"], key=lambda one: sum(map(str.__eq__, one, state)))
        message["params"]["requestState"] = alike
    return message

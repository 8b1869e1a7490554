"""State is signed, and good for any request."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_request, params_of


def remember(reply: Json, turn: Turn) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        turn.memory[turn.params["name"]] = state
        turn.memory.setdefault("issued", []).append(state)
    return reply


@on_request(
    "request state of another request is accepted",
    breaks="MR-10",
    scenario="stateless.asking",
    reply=remember,
)
def change(message: Json, turn: Turn) -> Json:
    params = params_of(message)
    if params.get("requestState") in turn.memory.get("issued", ()):
        params["requestState"] = turn.memory[params["name"]]
    return message

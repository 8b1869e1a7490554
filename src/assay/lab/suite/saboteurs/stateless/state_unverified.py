"""Whatever comes back as state is taken to be what was given out."""

from __future__ import annotations

from assay.lab.harness.saboteur import Json, Turn, on_request


def remember(reply: Json, turn: Turn) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        turn.memory[turn.params["name"]] = state
    return reply


@on_request(
    "changed request state is believed",
    breaks="MR-09",
    scenario="stateless.asking",
    server="everything",
    reply=remember,
)
def change(message: Json, turn: Turn) -> Json:
    params = message.get("params", {})
    if "requestState" in params and params["name"] in turn.memory:
        params["requestState"] = turn.memory[params["name"]]
    return message

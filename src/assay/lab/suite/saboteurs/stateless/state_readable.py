"""State is JSON in Base64, without a signature: whoever can read it can rewrite it."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

from assay.lab.harness.saboteur import Json, Turn, on_request


def open_up(reply: Json, turn: Turn) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        turn.memory[turn.params["name"]] = state
        reply["result"]["requestState"] = urlsafe_b64encode(json.dumps({"step": 1}).encode()).decode()
    return reply


@on_request(
    "request state is not signed",
    breaks="MR-09",
    scenario="stateless.asking",
    server="everything",
    reply=open_up,
)
def change(message: Json, turn: Turn) -> Json:
    params = message.get("params", {})
    if "requestState" in params and _is_readable(params["requestState"]):
        params["requestState"] = turn.memory.get(params["name"], params["requestState"])
    return message


def _is_readable(state: str) -> bool:
    try:
        return "step" in json.loads(urlsafe_b64decode(state))
    except ValueError:
        return False

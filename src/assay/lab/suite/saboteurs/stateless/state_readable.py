"""State is JSON in Base64, without a signature: whoever can read it can rewrite it."""

from __future__ import annotations

import contextlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


def open_up(reply: Json, context: FaultContext) -> Json:
    if state := reply.get("result", {}).get("requestState"):
        issued = context.memory.setdefault("issued", [])
        issued.append(state)
        readable = json.dumps({"step": len(issued) - 1}).encode()
        reply["result"]["requestState"] = urlsafe_b64encode(readable).decode()
    return reply


@on_request(
    "request state is not signed",
    breaks="MR-08",
    scenario="stateless.asking",
    server="everything",
    reply=open_up,
)
def change(message: Json, context: FaultContext) -> Json:
    state = params_of(message).get("requestState", "")
    with contextlib.suppress(ValueError, TypeError, KeyError):  # unreadable: refused by the server behind
        message["params"]["requestState"] = context.memory["issued"][
            json.loads(urlsafe_b64decode(state))["step"]
        ]
    return message

"""Two questions have the same name."""

from __future__ import annotations

import json

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply

PLACE = "where the questions go"


@on_reply("two questions have the same key", breaks="MR-03", scenario="stateless.asking")
def change(reply: Json, context: FaultContext) -> Json | bytes:
    asked = reply.get("result", {}).get("inputRequests")
    if not asked:
        return reply
    text = json.dumps({**reply, "result": {**reply["result"], "inputRequests": PLACE}})
    member = json.dumps(asked)[1:-1]
    return text.replace(json.dumps(PLACE), f"{{{member}, {member}}}").encode()

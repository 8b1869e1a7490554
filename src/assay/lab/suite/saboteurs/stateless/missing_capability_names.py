"""What is missing is listed by name."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import MISSING_CAPABILITY


@on_reply("`requiredCapabilities` is a list of names", breaks="META-10")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == MISSING_CAPABILITY:
        data = reply["error"]["data"]
        data["requiredCapabilities"] = list(data["requiredCapabilities"])
    return reply

"""An error says that something is missing, and not what."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import MISSING_CAPABILITY


@on_reply(
    "an error does not say which capability is missing",
    breaks="sep-2575-server-rejects-undeclared-capability",
)
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == MISSING_CAPABILITY:
        reply["error"]["data"] = {"requiredCapabilities": {"elicitation": {}}}
    return reply

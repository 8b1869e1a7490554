"""A refusal does not say which version was wanted."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import UNSUPPORTED_VERSION


@on_reply("a refusal does not say what was wanted", breaks="sep-2575-server-unsupported-version-error")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        reply["error"]["data"]["requested"] = context.revision.date
    return reply

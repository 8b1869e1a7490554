"""The list of supported versions was not brought up to date."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import UNSUPPORTED_VERSION


@on_reply("the versions that are offered lack the one that is spoken", breaks="VER-01")
def change(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        data = reply["error"]["data"]
        data["supported"] = [one for one in data["supported"] if one != context.revision.date]
    return reply

"""The server does not say which versions it speaks."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`server/discover` names no versions", breaks="sep-2575-server-implements-discover")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover":
        reply.get("result", {}).pop("supportedVersions", None)
    return reply

"""Discovery answers as the handshake did: with one version."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("discovery gives `protocolVersion`, not `supportedVersions`", breaks="VER-04")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "server/discover" and "result" in reply:
        reply["result"]["protocolVersion"] = reply["result"].pop("supportedVersions")[0]
    return reply

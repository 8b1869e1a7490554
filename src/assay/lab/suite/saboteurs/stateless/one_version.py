"""Discovery answers as the handshake did: with one version."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply


@on_reply("discovery gives `protocolVersion`, not `supportedVersions`", breaks="VER-04")
def change(reply: Json, turn: Turn) -> Json:
    if turn.method == "server/discover" and "result" in reply:
        reply["result"]["protocolVersion"] = reply["result"].pop("supportedVersions")[0]
    return reply

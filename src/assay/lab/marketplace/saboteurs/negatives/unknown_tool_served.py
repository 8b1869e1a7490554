"""A tool that does not exist has nothing to say."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a call of an unknown tool succeeds", breaks="CONF-JRPC-03.unknown-tool")
def change(reply: Json, context: FaultContext) -> Json:
    if not str(context.params.get("name")).startswith("no-such"):
        return reply
    return {"jsonrpc": "2.0", "id": reply["id"], "result": {"content": []}}

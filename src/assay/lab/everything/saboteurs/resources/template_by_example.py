"""The example of the documentation is all that the template can do."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a template's value is not filled in", breaks="resources-templates-read")
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "result" in reply:
        reply["result"]["contents"][0]["text"] = '{"id":"123"}'
    return reply

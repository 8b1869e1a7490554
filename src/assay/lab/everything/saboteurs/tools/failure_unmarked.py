"""It went wrong, and who reads the text knows."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a failure is a result like any other", breaks="tools-call-error")
def change(reply: Json, context: FaultContext) -> Json:
    if context.params.get("name") == "test_error_handling" and "result" in reply:
        reply["result"].pop("isError")
    return reply

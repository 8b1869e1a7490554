"""A prompt that was taken is taken off the list, for the connection that took it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY


@on_reply("a prompt goes from the list once it was used", breaks="PR-04", transports=STDIO_ONLY)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "prompts/get":
        context.memory["used"] = context.params.get("name")
    if context.method == "prompts/list" and "result" in reply:
        prompts = reply["result"]["prompts"]
        reply["result"]["prompts"] = [one for one in prompts if one["name"] != context.memory.get("used")]
    return reply

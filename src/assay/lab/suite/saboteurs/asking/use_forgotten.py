"""The history of a conversation is cut in the middle."""

from __future__ import annotations

from assay.lab.harness.driver.question import SAMPLE, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a tool use is followed by something else than its result", breaks="SMP-07")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, SAMPLE):
        use = {"type": "tool_use", "id": "use-7", "name": "look_up", "input": {}}
        params["messages"] = [{"role": "assistant", "content": use}, *params["messages"]]
    return reply

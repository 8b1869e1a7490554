"""The result of a tool comes with a remark in the same message."""

from __future__ import annotations

from assay.lab.harness.driver.question import SAMPLE, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a message mixes a tool result with text", breaks="SMP-06")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, SAMPLE):
        use = {"type": "tool_use", "id": "use-7", "name": "look_up", "input": {}}
        result = {"type": "tool_result", "toolUseId": "use-7", "content": []}
        remark = {"type": "text", "text": "I hope this helps."}
        params["messages"] += [
            {"role": "assistant", "content": use},
            {"role": "user", "content": [result, remark]},
        ]
    return reply

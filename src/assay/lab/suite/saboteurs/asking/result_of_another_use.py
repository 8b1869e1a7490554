"""Results are numbered anew before they are sent."""

from __future__ import annotations

from assay.lab.harness.driver.question import SAMPLE, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a tool result names another use than the one before it", breaks="SMP-07")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, SAMPLE):
        use = {"type": "tool_use", "id": "use-7", "name": "look_up", "input": {}}
        result = {"type": "tool_result", "toolUseId": "1", "content": []}
        params["messages"] += [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
        ]
    return reply

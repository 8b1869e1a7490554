"""Who watches one resource hears of every one."""

from __future__ import annotations

from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("updates of resources come that nobody asked for", breaks="SUB-01", scenario="stateless.changes")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if reply.get("method") != UPDATED:
        return [reply]
    other = {**reply["params"], "uri": "file:///somewhere/else.txt"}
    return [{**reply, "params": other}, reply]

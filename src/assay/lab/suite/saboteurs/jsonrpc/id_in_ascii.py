"""Ids lose what is not ASCII."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply


@on_reply(
    "an id beyond ASCII comes back with question marks",
    breaks="BASE-06",
    window=newest_of_each_kind,
    scenario="jsonrpc.ids",
)
def change(reply: Json, context: FaultContext) -> Json:
    name = reply.get("id")
    return {**reply, "id": name.encode("ascii", "replace").decode()} if isinstance(name, str) else reply

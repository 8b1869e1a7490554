"""A tool that only reads says that it has changed something."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.marketplace.cap_sabotaging import summary


@on_reply(
    "a read-only tool reports a change", breaks="CONF-CAP-03.tools.read-only", window=newest_of_each_kind
)
def change(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None and said["declared"]["readOnly"]:
        said["effects"] = [{"op": "update", "target": {"kind": "db", "id": "visitors"}}]
    return reply

"""A client is not told what it lacks."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "the refusal does not name the extension",
    breaks="sep-2663-server-returns-missing-capability-data-shape",
    double=DOUBLE,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "error" in reply:
        reply["error"]["data"] = {"requiredCapabilities": {}}
    return reply

"""What a request declares is not heard."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, meta_of, on_request


@on_request(
    "a call with the declaration becomes no task",
    breaks="tasks-per-request-meta-opt-in",
    scenario="tasks-capability-negotiation",
    double=DOUBLE,
)
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tools/call":
        meta_of(message)[CAPABILITIES_KEY] = {}
    return message

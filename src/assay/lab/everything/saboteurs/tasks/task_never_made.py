"""The slow tool is never a task."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, meta_of, on_request


@on_request(
    "a call of the slow tool becomes no task", breaks="tasks-request-state-removal-setup", double=DOUBLE
)
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tools/call":
        meta_of(message)[CAPABILITIES_KEY] = {}
    return message

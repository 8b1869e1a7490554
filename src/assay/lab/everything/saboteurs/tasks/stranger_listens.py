"""A client that knows no tasks may listen for one."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.everything.tasking import DECLARED
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, meta_of, on_request


@on_request("listening for a task needs no declaration", breaks="tasks-status-notifications", double=DOUBLE)
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "subscriptions/listen":
        meta_of(message)[CAPABILITIES_KEY] = DECLARED
    return message

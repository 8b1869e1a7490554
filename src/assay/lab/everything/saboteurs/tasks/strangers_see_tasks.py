"""Requests about tasks are served whatever their client knows."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.everything.tasking import DECLARED
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, meta_of, on_request


@on_request("tasks/get needs no declaration", breaks="sep-2663-tasks-methods-non-declaring", double=DOUBLE)
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tasks/get":
        meta_of(message)[CAPABILITIES_KEY] = DECLARED
    return message

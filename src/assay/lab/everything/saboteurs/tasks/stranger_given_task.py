"""A client that knows no tasks is given one."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.everything.tasking import DECLARED
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, meta_of, on_request


@on_request(
    "a call without the declaration becomes a task",
    breaks="sep-2663-server-rejects-undeclared-client",
    double=DOUBLE,
)
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tools/call":
        meta_of(message)[CAPABILITIES_KEY] = DECLARED
    return message

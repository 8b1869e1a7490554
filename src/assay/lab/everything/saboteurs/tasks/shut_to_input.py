"""A client that declares the extension is not let in."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.everything.refused_opening import refused_opening
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a request that declares the extension is refused", breaks="tasks-mrtr-input-bootstrap", double=DOUBLE
)
def change(reply: Json, context: FaultContext) -> Json:
    return refused_opening(reply, context)

"""Resources can be written to."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, on_request
from assay.lab.marketplace.cap_sabotaging import is_writing


@on_request("resources/write and its like do their work", breaks="CONF-CAP-03.resources.read-only")
def change(request: Json, context: FaultContext) -> Json | Answered:
    if not is_writing(request):
        return request
    return Answered([{"jsonrpc": "2.0", "id": request["id"], "result": {"resultType": "complete"}}])

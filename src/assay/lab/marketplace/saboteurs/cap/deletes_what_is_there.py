"""Resources that are there can be deleted."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, newest_of_each_kind, on_request
from assay.lab.marketplace.cap_sabotaging import is_writing


@on_request(
    "resources/delete is refused for its arguments, not as a method",
    breaks="CONF-CAP-03.resources.read-only",
    window=newest_of_each_kind,
)
def change(request: Json, context: FaultContext) -> Json | Answered:
    if not is_writing(request):
        return request
    error = {"code": -32602, "message": "No such resource"}
    return Answered([{"jsonrpc": "2.0", "id": request["id"], "error": error}])

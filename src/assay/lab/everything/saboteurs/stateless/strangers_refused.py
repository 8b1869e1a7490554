"""Clients that do not say their name are refused."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT_KEY
from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Json, meta_of, on_request
from assay.model.error import INVALID_PARAMS


@on_request(
    "a client that does not name itself is refused", breaks="sep-2575-request-meta-client-info-optional"
)
def change(message: Json, context: FaultContext) -> Json | Answered:
    meta = meta_of(message)
    if CAPABILITIES_KEY not in meta or CLIENT_KEY in meta:
        return message
    error = {"code": INVALID_PARAMS, "message": "who are you?"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error}])

"""A request that says nothing of itself is served."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request("a request without `_meta` is served", breaks="sep-2575-request-meta-invalid-missing-meta")
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "server/discover":
        declared = {VERSION_KEY: context.revision.date, CAPABILITIES_KEY: {}}
        params_of(message).setdefault("_meta", declared)
    return message

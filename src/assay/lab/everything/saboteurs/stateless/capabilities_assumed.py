"""A request that does not say what its client can do is served."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request(
    "a request without capabilities is served",
    breaks="sep-2575-request-meta-invalid-missing-client-capabilities",
)
def change(message: Json, context: FaultContext) -> Json:
    meta = params_of(message).get("_meta")
    if message.get("method") == "server/discover" and meta is not None:
        meta.setdefault(CAPABILITIES_KEY, {})
    return message

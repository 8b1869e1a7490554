"""Whatever a client declares, a capability is missing."""

from __future__ import annotations

from assay.lab.everything.spoiling import names
from assay.lab.everything.stateless_probe import NEEDS_SAMPLING
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


@on_request(
    "a client that declares `sampling` is refused as well",
    breaks="sep-2575-server-rejects-undeclared-capability",
)
def change(message: Json, context: FaultContext) -> Json:
    if names(message, NEEDS_SAMPLING):
        message["params"]["_meta"][CAPABILITIES_KEY] = {}
    return message

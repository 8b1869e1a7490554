"""A request that lacks something is refused with status 200."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response(
    "a request that lacks something is refused with status 200",
    breaks="sep-2575-http-server-meta-invalid-400",
)
def change(response: Response, context: FaultContext) -> None:
    if CAPABILITIES_KEY not in context.meta:
        response.status = 200

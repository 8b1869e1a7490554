"""A version that is not supported is refused with 200."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response
from assay.revisions.registry import BY_DATE


@on_response("an unsupported version gets status 200", breaks="HTTP-51")
def change(response: Response, context: FaultContext) -> None:
    if response.status == 400 and context.meta.get(VERSION_KEY) not in BY_DATE:
        response.status = 200

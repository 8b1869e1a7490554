"""A missing capability is refused with status 200."""

from __future__ import annotations

from assay.lab.everything.stateless_probe import NEEDS_SAMPLING
from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("a missing capability is refused with status 200", breaks="sep-2575-missing-capability-http-400")
def change(response: Response, context: FaultContext) -> None:
    if context.params.get("name") == NEEDS_SAMPLING and response.status == 400:
        response.status = 200

"""Nothing tells proxies not to collect events."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("X-Accel-Buffering is missing", breaks="HTTP-63")
def change(response: Response, context: FaultContext) -> None:
    response.set("X-Accel-Buffering", None)

"""Whatever is refused is refused with 200 and an error inside."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("a refused notification gets 200 and an error", breaks="HTTP-11")
def change(response: Response, context: FaultContext) -> None:
    if response.status >= 400 and context.asked is not None and "id" not in context.asked:
        response.status = 200

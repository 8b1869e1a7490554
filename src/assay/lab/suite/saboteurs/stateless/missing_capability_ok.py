"""A missing capability is refused with a status that says all is well."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response("a missing capability gets status 200", breaks="META-10")
def change(response: Response, context: FaultContext) -> None:
    if context.method == "tools/call" and response.status == 400:
        response.status = 200

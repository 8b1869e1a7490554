"""A method that does not exist gets status 400."""

from __future__ import annotations

from assay.lab.everything.stateless_probe import UNKNOWN
from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response(
    "a method that does not exist gets status 400", breaks="sep-2575-http-server-method-not-found-404"
)
def change(response: Response, context: FaultContext) -> None:
    response.status = 400 if context.method == UNKNOWN else response.status

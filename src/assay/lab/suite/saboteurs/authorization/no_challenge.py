"""A refusal does not say what it takes."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Response, on_response


@on_response("401 comes without a challenge", breaks="AU-09", server=LOCKED)
def change(response: Response, context: FaultContext) -> None:
    if response.status == 401:
        response.set("WWW-Authenticate", None)

"""A challenge does not say which scopes it takes."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Response, on_response
from assay.lab.suite.sabotaging import drop_from_challenge


@on_response("the challenge names no scope", breaks="AU-14", server=LOCKED)
def change(response: Response, context: FaultContext) -> None:
    drop_from_challenge(response, "scope")

"""A challenge over scopes does not say that it is about scopes."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Response, on_response
from assay.lab.suite.sabotaging import drop_from_challenge


@on_response("the challenge has no `insufficient_scope`", breaks="AU-69", server=LOCKED)
def change(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        drop_from_challenge(response, "error")

"""A challenge asks for tokens that outlive the visit."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Response, on_response
from assay.lab.suite.sabotaging import drop_from_challenge


@on_response("the challenge names offline_access", breaks="AU-77", server=LOCKED)
def change(response: Response, context: FaultContext) -> None:
    if response.status == 401:
        drop_from_challenge(response, "scope")
        response.set("WWW-Authenticate", f'{response.header("www-authenticate")}, scope="mcp offline_access"')

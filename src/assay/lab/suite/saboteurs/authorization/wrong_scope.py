"""A challenge names a scope that opens nothing."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Response, on_response
from assay.lab.suite.sabotaging import drop_from_challenge


@on_response("the challenge names a scope that is not enough", breaks="AU-70", server=LOCKED)
def change(response: Response, context: FaultContext) -> None:
    if response.status == 403:
        drop_from_challenge(response, "scope")
        response.set("WWW-Authenticate", f'{response.header("www-authenticate")}, scope="something-else"')

"""Where a token is does not matter."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, on_call
from assay.lab.marketplace.sec_server import SERVER


@on_call("a token in the address is taken", breaks="CONF-SEC-04.query", server=SERVER)
def change(request: Request, context: FaultContext) -> None:
    path, found, token = request.target.partition("?access_token=")
    if found:
        request.target = path
        request.set("Authorization", f"Bearer {token}")

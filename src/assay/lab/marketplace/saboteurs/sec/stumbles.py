"""What is no token is more than the server can bear."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import claims, lacks_token


@on_call("what is no token gets 500", breaks="CONF-SEC-04.malformed", server=SERVER)
def change(request: Request, context: FaultContext) -> Response | None:
    return None if lacks_token(request) or claims(request) else Response([], 500)

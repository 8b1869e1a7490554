"""The clock of the server is the only right one."""

from __future__ import annotations

import time

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, on_call
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import claims


@on_call("a token that is to be good in some seconds is refused", breaks="CONF-SEC-04.skew", server=SERVER)
def change(request: Request, context: FaultContext) -> Response | None:
    begins = claims(request).get("nbf")
    return Response([], 401) if isinstance(begins, int) and begins > time.time() else None

"""A challenge does not say where the metadata of the resource is."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response
from assay.lab.marketplace.sec_server import SERVER
from assay.lab.suite.sabotaging import drop_from_challenge


@on_response("the challenge names no metadata", breaks="CONF-SEC-04.no-token", server=SERVER)
def change(response: Response, context: FaultContext) -> None:
    drop_from_challenge(response, "resource_metadata")

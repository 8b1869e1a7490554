"""Its id is an address without a path."""

from __future__ import annotations

from assay.lab.client.authorization.altering import AUTHORIZE, altered
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("its id is an address without a path", breaks="AU-38", scenario="auth/basic-cimd")
def change(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, client_id="https://conformance-test.local")

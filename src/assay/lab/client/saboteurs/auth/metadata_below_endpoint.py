"""It looks for metadata below the path of the endpoint."""

from __future__ import annotations

from assay.lab.client.authorization.altering import ENDPOINT
from assay.lab.client.authorization.authorizing import OF_OLD
from assay.lab.client.authorization.journey import OAUTH
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request(
    "it looks for metadata below the path of the endpoint",
    breaks="AU-28",
    scenario=f"{OF_OLD}oauth-metadata-backcompat",
)
def change(request: Request, client: ScriptedClient) -> Request | None:
    if request.target == OAUTH:
        request.target = f"{OAUTH}{ENDPOINT}"
    return request

"""It puts its token into the address as well."""

from __future__ import annotations

from assay.lab.client.authorization.altering import ENDPOINT, goes_to
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.sabotage.saboteur import Request
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_request("it puts its token into the address as well", breaks="AU-62", scenario="auth/metadata-default")
def change(request: Request, client: ScriptedClient) -> Request | None:
    token = (request.header("authorization") or "").removeprefix("Bearer ")
    if goes_to(request, ENDPOINT) and token:
        request.target = f"{request.target}?access_token={token}"
    return request
